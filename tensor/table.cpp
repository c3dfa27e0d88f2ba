#include "tensor/table.h"

#include <cmath>

#include "tensor/utf8.h"

namespace heed {

// Blocks of wide characters and of combining marks, an approximation of Unicode Standard Annex 11.
constexpr CodeRange kWide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},  {0x3041, 0xA4CF}, {0xAC00, 0xD7A3},
                               {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},  {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6},
                               {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD}};
constexpr CodeRange kCombining[] = {{0x0300, 0x036F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}};

// True for empty cells and "-" as well.
static bool is_number(const std::string& cell) {
  return cell.find_first_not_of("0123456789.,+-eE%") == std::string::npos;
}

int64_t display_width(const std::string& text) {
  int64_t width = 0;
  for_each_character(text, [&](uint32_t code, auto) {
    width += within(kCombining, code) ? 0 : within(kWide, code) ? 2 : 1;
  });
  return width;
}

std::string decimals(double x, int digits) { return detail::formatted("%.*f", digits, x); }
std::string short_number(double x) { return std::isnan(x) ? "nan" : detail::formatted("%.4g", x); }

void Table::add(std::vector<std::string> cells) {
  check(cells.size() == rows_.front().size(), "Table: a row of ", cells.size(), " cells for ",
        rows_.front().size(), " columns");
  rows_.push_back(std::move(cells));
}

std::string Table::to_string(const std::string& indent) const {
  const size_t columns = rows_[0].size();
  std::vector<int64_t> width(columns, 0);
  std::vector<bool> right(columns, rows_.size() > 1);
  for (size_t r = 0; r < rows_.size(); ++r)
    for (size_t c = 0; c < columns; ++c) {
      width[c] = std::max(width[c], display_width(rows_[r][c]));
      if (r > 0 && !is_number(rows_[r][c])) right[c] = false;
    }
  std::string text;
  for (const auto& row : rows_) {
    text += (text.empty() ? "" : "\n") + indent;
    for (size_t c = 0; c < columns; ++c) {
      const std::string space(static_cast<size_t>(width[c] - display_width(row[c])), ' ');
      if (c > 0) text += "  ";
      text += right[c] ? space + row[c] : row[c] + space;
    }
    text.erase(text.find_last_not_of(' ') + 1);
  }
  return text;
}

}  // namespace heed
