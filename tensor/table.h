#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Text in aligned columns.
namespace heed {

/// The columns that UTF-8 text takes on a terminal: Chinese, Japanese and Korean characters take two,
/// combining marks none.
int64_t display_width(const std::string& text);

/// A number with so many digits after the point.
std::string decimals(double x, int digits);
/// "1.095", "0.0124", "3.2e-07": four digits that count.
std::string short_number(double x);

namespace detail {
/// "dot, additive"
std::string listed(const std::vector<std::string>& names);
}  // namespace detail

/// Text in aligned columns, two spaces apart; columns whose cells below the header are numbers are aligned at
/// the right.
class Table {
 public:
  /// One column for each of the names.
  explicit Table(std::vector<std::string> header);
  /// A cell for each column of the header.
  void add(std::vector<std::string> cells);
  /// The number of rows below the header.
  size_t rows() const { return rows_.size() - 1; }
  /// A line for each row, the header first, `indent` before each; no newline at the end.
  std::string to_string(const std::string& indent = "") const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// The table as part of an error message: each row after a line break, indented.
inline std::string below_message(const Table& table) { return "\n" + table.to_string("  "); }

}  // namespace heed
