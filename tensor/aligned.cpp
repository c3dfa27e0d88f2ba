#include "tensor/aligned.h"

#include <array>

namespace heed {
namespace {

// The size in a column; columns are counted from the last size of the shape, which is -1.
std::optional<int64_t> size_in(const Shape& shape, int64_t column) {
  const int64_t at = column + shape.dim();
  return at < 0 || column >= 0 ? std::nullopt : std::optional(shape[at]);
}

std::string cell(const Shape& shape, int64_t column) {
  if (shape.empty() && column == -1) return "[]";
  const std::optional<int64_t> size = size_in(shape, column);
  if (!size) return "";
  return (column == -shape.dim() ? "[" : " ") + std::to_string(*size) + (column == -1 ? "]" : ",");
}

bool is_marked(Aligned::Marks marks, int64_t column, std::optional<int64_t> a, std::optional<int64_t> b) {
  if (marks == Aligned::Marks::last) return column == -1;
  if (marks == Aligned::Marks::unequal) return a != b;
  return a && b && a != b && a != 1 && b != 1;
}

}  // namespace

std::string below_message(const Aligned& shapes) {
  const auto& [name_a, a, name_b, b, marks, overhang] = shapes;
  std::array<std::string, 3> rows = {std::string("\n  ") + name_a, std::string("\n  ") + name_b, "\n  "};
  const size_t names = std::max(rows[0].size(), rows[1].size()) + 2;
  for (std::string& row : rows) row.resize(names, ' ');
  for (int64_t column = -std::max({a.dim(), b.dim() - overhang, int64_t{1}}); column < overhang; ++column) {
    const int64_t of_b = column - overhang;
    const bool marked = is_marked(marks, column, size_in(a, column), size_in(b, of_b));
    const std::array<std::string, 3> cells = {cell(a, column), cell(b, of_b), marked ? "^ " : ""};
    const size_t width = std::max(cells[0].size(), cells[1].size());
    for (size_t k = 0; k < 3; ++k) rows[k] += std::string(width - cells[k].size(), ' ') + cells[k];
  }
  for (std::string& row : rows) row.resize(row.find_last_not_of(' ') + 1);
  return rows[0] + rows[1] + rows[2];
}

}  // namespace heed
