#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace program {

/// All bytes of a file or a pipe.
std::string read_bytes(const std::string& path);
/// A text without the byte order mark that it may begin with.
std::string_view unmarked(std::string_view text);
/// A text without the spaces and tabs around it.
std::string_view trim(std::string_view text);
/// A file of UTF-8, without the byte order mark that it may begin with. Throws heed::Error naming the file
/// and the first byte that is not UTF-8.
std::string read_text(const std::string& path);

/// Two columns of numbers read from a file.
struct Columns {
  std::string x_name, y_name;
  std::vector<double> x, y;
  int64_t skipped = 0;  // rows that cannot be used
};

/// Reads two columns of a table in text: fields separated by commas (or semicolons, or tabs, whichever the
/// first line has), quoted fields as in RFC 4180, lines ended by LF or CRLF, with or without a byte order
/// mark. The first line may be a header. A column is given by its name or by its number from 1; without
/// names, x is the first and y the second. Other columns may hold anything, empty lines are passed over.
///
/// Throws heed::Error naming the file, the line and the column of whatever is wrong: the file or a column is
/// missing; rows that have more or fewer fields than the first, or a field that is empty, no number, or not
/// finite, all at once (BadRows), unless they are to be skipped.
Columns read_csv(const std::string& path, const std::string& x, const std::string& y, bool skip_bad = false);

}  // namespace program
