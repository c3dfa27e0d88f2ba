#pragma once

#include "tensor/table.h"

/// Text files, and rows of them that cannot be used.
namespace heed {

/// All bytes of a file or a pipe. Throws if it cannot be read.
std::string read_bytes(const std::string& path);
/// The text of a file without a byte order mark. Throws if it cannot be read or is not UTF-8.
std::string read_text(const std::string& path);

/// The text without the byte order mark that it may begin with.
std::string_view without_byte_order_mark(std::string_view text);
/// The text without the spaces and tabs around it.
std::string_view trim(std::string_view text);

/// Collects the rows of a file that cannot be used, so that one error reports all of them.
class BadRows {
 public:
  /// With `skip` they are only counted.
  BadRows(std::string path, bool skip) : path_(std::move(path)), skip_(skip) {}

  /// Calls `read` for the row in this line. If it throws an Error, the row is bad, and the message says why.
  void note(int64_t line, const std::function<void()>& read);
  /// The number of bad rows. Throws a table of the first twenty, unless they are skipped.
  int64_t count() const;

 private:
  std::string path_;
  bool skip_;
  int64_t count_ = 0;
  Table table_{{"line", "what is wrong"}};
};

/// Calls `read` for each line of a file that is not blank, without its LF or CRLF and without a byte order
/// mark. Lines for which it throws an Error are bad rows: throws all of them in one error, or with `skip_bad`
/// returns how many there are.
int64_t each_line(const std::string& path, bool skip_bad, const std::function<void(std::string_view)>& read);

}  // namespace heed
