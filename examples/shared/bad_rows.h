#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tensor/table.h"

namespace program {

/// The rows of a user's file that cannot be used: all of them in one error, or, with --skip-bad, passed over.
class BadRows {
 public:
  BadRows(std::string path, bool skips) : path_(std::move(path)), skips_(skips) {}

  /// Runs `read` for the row on this line, and notes the row if a heed::Error comes out.
  void note(int64_t line, const std::function<void()>& read);

  /// How many there are. Error with a table of them, unless they are passed over.
  int64_t count() const;

 private:
  static constexpr size_t kMaxOperands = 20;  // in the table

  std::string path_;
  bool skips_;
  int64_t count_ = 0;
  heed::Table table_{{"line", "what is wrong"}};
};

/// Calls `read` for the lines of a file of text that are not blank, without a byte order mark and without
/// what ends them, LF or CRLF. Returns how many `read` refused with a heed::Error. Errors: all of these,
/// unless they are passed over.
int64_t each_line(const std::string& path, bool skip_bad, const std::function<void(std::string_view)>& read);

}  // namespace program
