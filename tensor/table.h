#pragma once

#include <cstdint>
#include <cstdio>

#include "tensor/lists.h"

/// Text in aligned columns.
namespace heed {

/// The number of terminal columns that a UTF-8 text takes. Chinese, Japanese and Korean characters take two,
/// combining marks none.
int64_t display_width(const std::string& text);

/// A number with `digits` digits after the decimal point.
std::string decimals(double x, int digits);
/// A number with four significant digits: "1.095", "0.0124", "3.2e-07".
std::string short_number(double x);

namespace detail {
/// What printf makes of the numbers, at most 39 characters.
std::string formatted(const char* format, auto... numbers) {
  char text[40];
  std::snprintf(text, sizeof text, format, numbers...);
  return text;
}
}  // namespace detail

/// Text in aligned columns, two spaces apart. A column is aligned at the right if all its cells below the
/// header are numbers.
class Table {
 public:
  /// One column for each name.
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  /// Adds a row, with a cell for each column. Throws if their number differs.
  void add(std::vector<std::string> cells);
  /// The number of rows below the header.
  size_t rows() const { return rows_.size() - 1; }
  /// One line for each row, the header first, each after `indent`. There is no newline at the end.
  std::string to_string(const std::string& indent = "") const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// The table as part of an error message: each row after a line break, indented.
inline std::string below_message(const Table& table) { return "\n" + table.to_string("  "); }

}  // namespace heed
