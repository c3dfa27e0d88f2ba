#include "nn/view/heat_map.h"

#include <cstdio>

#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"
#include "nn/view/markup.h"
#include "tensor/index.h"
#include "tensor/table.h"

namespace heed {

using detail::line;
using detail::Lines;

namespace {

// Colors for 0, 1/2 and 1, linear in between, from light to dark so that gray prints keep the order. The
// attention page uses the same colors.
constexpr int kColors[3][3] = {{247, 251, 255}, {107, 174, 214}, {8, 48, 107}};
constexpr int64_t kTitle = 14, kLetters = 13, kSmallest = 10, kTitleLine = 20;  // pixels
constexpr const char* kAxes = "query \\ key";

std::string color_of(double weight) {
  const double place = weight > 0 ? std::min(weight, 1.0) * 2 : 0;  // NaN counts as 0
  const int from = place < 1 ? 0 : 1;
  unsigned color = 0;
  for (int i = 0; i < 3; ++i) {
    const double low = kColors[from][i], high = kColors[from + 1][i];
    color = color << 8 | static_cast<unsigned>(std::lround(low + (place - from) * (high - low)));
  }
  char text[8];
  std::snprintf(text, sizeof text, "#%06x", color);
  return text;
}

std::string label(int64_t x, int64_t y, const char* anchor, const std::string& text,
                  const std::string& attributes = "") {
  return line(R"(<text x="{}" y="{}" text-anchor="{}"{}>{}</text>)", x, y, anchor, attributes,
              detail::escaped(text));
}

std::string rectangle(int64_t x, int64_t y, int64_t width, int64_t height, std::string_view rest) {
  return line(R"(<rect x="{}" y="{}" width="{}" height="{}" {})", x, y, width, height, rest);
}

// The width of a text in pixels: a terminal column is 5/8 of the font size.
int64_t pixels(const std::string& text, int64_t font_size) {
  return (display_width(text) * font_size * 5 + 7) / 8;
}

Lines title_lines(const std::string& text, int64_t width) {
  return detail::wrapped(text, width * 8 / (5 * kTitle));
}

std::string title(const Lines& lines, int64_t center, const std::string& attributes = "") {
  std::string svg;
  int64_t y = 0;
  for (const std::string& text : lines) svg += label(center, y += kTitleLine, "middle", text, attributes);
  return svg;
}

// Cuts long labels, marked by an ellipsis.
std::string shortened(const std::string& text) {
  constexpr int64_t kColumns = 16;
  if (display_width(text) <= kColumns) return text;
  std::string cut;
  for (const std::string& character : split_characters(text, true)) {
    if (display_width(cut + character) >= kColumns) break;
    cut += character;
  }
  return cut + "…";
}

// A label for a narrow column: rotated letters, or Chinese characters one below the other.
std::string vertical_label(int64_t x, int64_t bottom, int64_t font_size, const std::string& text) {
  const Tokens characters = split_characters(text, true);
  if (display_width(text) == std::ssize(characters))
    return line(R"svg(<g transform="translate({} {}) rotate(-90)">{}</g>)svg", x + font_size / 3, bottom,
                label(0, 0, "start", text));
  std::string svg;
  for (auto character = characters.rbegin(); character != characters.rend(); ++character, bottom -= font_size)
    svg += label(x, bottom, "middle", *character);
  return svg;
}

// The geometry of a panel, in pixels.
struct Layout {
  int64_t per_cell, columns, rows;  // per_cell: positions that share a cell, in each direction
  int64_t cell_width, cell_height;
  int64_t font_size;                 // of labels; 0 if there are none
  int64_t left, top, width, height;  // the upper left corner of the cells; the size of the panel
  bool horizontal, numbers;          // labels of keys; whether weights are printed in the cells
  Lines titles;

  explicit Layout(const AttentionMap& map) {
    constexpr double kMaxCells = 40000;  // in all panels
    const int64_t queries = std::ssize(map.queries), keys = std::ssize(map.keys);
    const double per_head = kMaxCells / static_cast<double>(std::max<int64_t>(map.heads(), 1));
    const auto max_rows = std::max(static_cast<int64_t>(std::sqrt(per_head)), int64_t{8});
    per_cell = (std::max<int64_t>({queries, keys, 1}) + max_rows - 1) / max_rows;
    columns = (keys + per_cell - 1) / per_cell;
    rows = (queries + per_cell - 1) / per_cell;
    const int64_t larger = std::max<int64_t>({columns, rows, 1});
    cell_height = cell_width = std::clamp<int64_t>(600 / larger, larger <= 64 ? kSmallest + 2 : 3, 40);
    font_size = per_cell == 1 && cell_height >= kSmallest + 2 ? std::min(kLetters, cell_height - 2) : 0;
    const int64_t key_width = label_width(map.keys);
    if (key_width <= 96 && key_width * columns <= 800) cell_width = std::max(cell_width, key_width);
    horizontal = key_width <= cell_width;
    numbers = per_cell == 1 && cell_width >= 30 && cell_height >= 16;
    left = std::max(label_width(map.queries) + 6, pixels(kAxes, 12) + 16);
    width = left + std::max<int64_t>(columns * cell_width, 40) + 16;
    titles = title_lines(map.module.empty() ? "attention" : map.module, std::max<int64_t>(width, 420) - 40);
    for (const std::string& text : titles) width = std::max(width, pixels(text, kTitle) + 80);
    top = 8 + std::ssize(titles) * kTitleLine + std::max<int64_t>(horizontal ? 18 : key_width, 18);
    height = top + rows * cell_height + 16;
  }
  // The space for the longest label.
  int64_t label_width(const Tokens& tokens) const {
    int64_t longest = 0;
    for (const std::string& token : tokens) longest = std::max(longest, pixels(shortened(token), font_size));
    return font_size == 0 ? 0 : longest + 10;
  }
};

// The weights that the cells of one head show, row by row.
std::vector<double> cell_weights(const Tensor& weights, const Layout& at) {
  const int64_t n = at.per_cell;
  if (n == 1) return weights.to_vector<double>();
  const Shape padding = {0, at.columns * n - weights.size(1), 0, at.rows * n - weights.size(0)};
  const Tensor blocks = reshape(pad(weights, padding, -INFINITY), {at.rows, n, at.columns, n});
  return amax(blocks, {1, 3}).to_vector<double>();
}

std::string cells(const AttentionMap& map, const Layout& at, int64_t head) {
  const auto positions = [&](const char* kind, const Tokens& tokens, int64_t i) {
    if (at.per_cell == 1) return tokens[static_cast<size_t>(i)];
    const int64_t end = std::min<int64_t>((i + 1) * at.per_cell, std::ssize(tokens));
    return detail::text(kind, i * at.per_cell, " to ", end - 1);
  };
  const std::vector<double> weights = cell_weights(map.weights[head], at);
  std::string svg;
  for (int64_t i = 0; i < at.rows * at.columns; ++i) {
    const double weight = weights[static_cast<size_t>(i)];
    const int64_t row = i / at.columns, column = i % at.columns;
    const int64_t x = at.left + column * at.cell_width, y = at.top + row * at.cell_height;
    const std::string tokens =
        positions("queries ", map.queries, row) + " → " + positions("keys ", map.keys, column);
    svg += rectangle(x, y, at.cell_width, at.cell_height,
                     detail::text("fill=\"", color_of(weight), "\"><title>", detail::escaped(tokens), ": ",
                                  decimals(weight, 4), "</title></rect>"));
    if (at.numbers)  // without pointer events, so that the mouse finds the cell
      svg += label(
          x + at.cell_width / 2, y + at.cell_height / 2 + 4, "middle", decimals(weight, 2),
          std::string(R"( font-size="11" pointer-events="none")") + (weight > 0.5 ? R"( fill="#fff")" : ""));
  }
  return svg;
}

std::string labels(const AttentionMap& map, const Layout& at) {
  std::string svg = line(R"(<g font-size="{}">)", at.font_size);
  int64_t y = at.top + at.cell_height / 2 + at.font_size / 3;  // centers the letters
  for (const std::string& query : map.queries) {
    svg += label(at.left - 6, y, "end", shortened(query));
    y += at.cell_height;
  }
  int64_t x = at.left + at.cell_width / 2;
  for (const std::string& key : map.keys) {
    svg += at.horizontal ? label(x, at.top - 6, "middle", shortened(key))
                         : vertical_label(x, at.top - 6, at.font_size, shortened(key));
    x += at.cell_width;
  }
  return svg + "</g>\n";
}

std::string panel(const AttentionMap& map, const Layout& at, int64_t head) {
  Lines titles = at.titles;
  if (map.heads() > 1) titles.back() += detail::text(", head ", head + 1, " of ", map.heads());
  return line(R"(<g font-size="{}">{}</g>)", kTitle, title(titles, at.width / 2)) +
         label(at.left - 6, at.top - 6, "end", kAxes) + (at.font_size > 0 ? labels(map, at) : "") +
         cells(map, at, head) +
         rectangle(at.left, at.top, at.columns * at.cell_width, at.rows * at.cell_height,
                   R"(fill="none" stroke="#888"/>)");
}

std::string legend(int64_t y, int64_t per_cell) {
  std::string svg = R"(<defs><linearGradient id="scale">)";
  for (const double place : {0.0, 0.5, 1.0})
    svg += detail::text("<stop offset=\"", place, "\" stop-color=\"", color_of(place), "\"/>");
  svg += "</linearGradient></defs>\n" + label(24, y + 11, "end", "0") +
         rectangle(30, y, 120, 14, R"svg(fill="url(#scale)" stroke="#888"/>)svg") +
         label(156, y + 11, "start", "1");
  const std::string note = detail::text("a cell: the largest of ", per_cell, " × ", per_cell, " weights");
  return per_cell > 1 ? svg + label(176, y + 11, "start", note) : svg;
}

}  // namespace

std::string attention_svg(const AttentionMap& map) {
  const Layout at(map);
  const int64_t heads = map.heads();
  const int64_t across = heads <= 4 && at.width * heads > 1200 ? 2 : std::clamp<int64_t>(heads, 1, 4);
  const int64_t down = (heads + across - 1) / across;
  const Lines sentence = title_lines(map.sentence, std::max<int64_t>(across * at.width, 420) - 40);
  int64_t width = std::max<int64_t>(across * at.width, at.per_cell > 1 ? 420 : 200);
  for (const std::string& text : sentence) width = std::max(width, pixels(text, kTitle) + 40);
  const int64_t above = sentence.empty() ? 0 : 8 + std::ssize(sentence) * kTitleLine;
  const int64_t bottom = above + down * at.height, height = bottom + 30;
  const std::string bold = detail::text(" font-size=\"", kTitle, "\" font-weight=\"bold\"");
  std::string svg =
      detail::svg_begin(width, height, R"(font-family="sans-serif" font-size="12" fill="#222")") +
      rectangle(0, 0, width, height, R"(fill="#fff"/>)") + title(sentence, width / 2, bold);
  for (int64_t head = 0; head < heads; ++head)
    svg += line(R"svg(<g transform="translate({} {})">)svg", head % across * at.width,
                above + head / across * at.height) +
           panel(map, at, head) + "</g>\n";
  return svg + legend(bottom, at.per_cell) + "</svg>\n";
}

}  // namespace heed
