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

// The width of the widest text in pixels: a terminal column is 5/8 of the font size.
int64_t widest(const Lines& texts, int64_t font_size) {
  int64_t columns = 0;
  for (const std::string& text : texts) columns = std::max(columns, display_width(text));
  return (columns * font_size * 5 + 7) / 8;
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

// The tokens as labels: long ones are cut, marked by an ellipsis.
Lines labels_of(Tokens tokens) {
  constexpr int64_t kColumns = 16;
  for (std::string& token : tokens) {
    if (display_width(token) <= kColumns) continue;
    std::string cut;
    for (const std::string& character : split_characters(token, true)) {
      if (display_width(cut + character) >= kColumns) break;
      cut += character;
    }
    token = cut + "…";
  }
  return tokens;
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

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The picture of one head: its geometry in pixels, and its parts.
struct Panel {
  static constexpr double kMaxCells = 40000;  // in all panels

  const AttentionMap& map;
  const int64_t heads = map.heads(), queries = std::ssize(map.queries), keys = std::ssize(map.keys);
  const int64_t max_rows =
      std::max(static_cast<int64_t>(std::sqrt(kMaxCells / static_cast<double>(std::max<int64_t>(heads, 1)))),
               int64_t{8});
  // The number of positions that share a cell, in each direction.
  const int64_t per_cell = divide_up(std::max<int64_t>({queries, keys, 1}), max_rows);
  const int64_t columns = divide_up(keys, per_cell), rows = divide_up(queries, per_cell);
  const int64_t larger = std::max<int64_t>({columns, rows, 1});
  const int64_t cell_height = std::clamp<int64_t>(600 / larger, larger <= 64 ? kSmallest + 2 : 3, 40);
  const bool labeled = per_cell == 1 && cell_height >= kSmallest + 2;
  const int64_t font_size = labeled ? std::min(kLetters, cell_height - 2) : 0;
  const Lines query_labels = labels_of(map.queries), key_labels = labels_of(map.keys);
  const int64_t key_width = space_for(key_labels);
  const bool widened = key_width <= 96 && key_width * columns <= 800;
  const int64_t cell_width = widened ? std::max(cell_height, key_width) : cell_height;
  const bool horizontal = key_width <= cell_width;  // labels of keys
  const bool numbers = per_cell == 1 && cell_width >= 30 && cell_height >= 16;
  // The upper left corner of the cells, and the size of the panel.
  const int64_t left = std::max(space_for(query_labels) + 6, widest({kAxes}, 12) + 16);
  const int64_t least_width = left + std::max<int64_t>(columns * cell_width, 40) + 16;
  const Lines titles =
      title_lines(map.module.empty() ? "attention" : map.module, std::max<int64_t>(least_width, 420) - 40);
  const int64_t width = std::max(least_width, widest(titles, kTitle) + 80);
  const int64_t top =
      8 + std::ssize(titles) * kTitleLine + std::max<int64_t>(horizontal ? 18 : key_width, 18);
  const int64_t height = top + rows * cell_height + 16;

  int64_t space_for(const Lines& labels) const { return labeled ? widest(labels, font_size) + 10 : 0; }

  // The weights that the cells show, row by row.
  std::vector<double> cell_weights(int64_t head) const {
    const Tensor weights = map.weights[head];
    const int64_t n = per_cell;
    if (n == 1) return weights.to_vector<double>();
    const Shape padding = {0, columns * n - keys, 0, rows * n - queries};
    return amax(reshape(pad(weights, padding, -INFINITY), {rows, n, columns, n}), {1, 3}).to_vector<double>();
  }

  // The token of a row or column, or the positions that share it.
  std::string positions(const char* kind, const Tokens& tokens, int64_t i) const {
    if (per_cell == 1) return detail::escaped(tokens[static_cast<size_t>(i)]);
    const int64_t end = std::min<int64_t>((i + 1) * per_cell, std::ssize(tokens));
    return detail::text(kind, i * per_cell, " to ", end - 1);
  }

  std::string cells(int64_t head) const {
    std::string svg;
    int64_t cell = 0;
    for (const double weight : cell_weights(head)) {
      const int64_t row = cell / columns, column = cell++ % columns;
      const int64_t x = left + column * cell_width, y = top + row * cell_height;
      svg += line(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="{}"><title>{} → {}: {}</title></rect>)",
                  x, y, cell_width, cell_height, color_of(weight), positions("queries ", map.queries, row),
                  positions("keys ", map.keys, column), decimals(weight, 4));
      if (numbers)  // without pointer events, so that the mouse finds the cell
        svg += label(x + cell_width / 2, y + cell_height / 2 + 4, "middle", decimals(weight, 2),
                     std::string(R"( font-size="11" pointer-events="none")") +
                         (weight > 0.5 ? R"( fill="#fff")" : ""));
    }
    return svg;
  }

  std::string labels() const {
    std::string svg = line(R"(<g font-size="{}">)", font_size);
    int64_t y = top + cell_height / 2 + font_size / 3;  // centers the letters
    for (const std::string& query : query_labels) {
      svg += label(left - 6, y, "end", query);
      y += cell_height;
    }
    int64_t x = left + cell_width / 2;
    for (const std::string& key : key_labels) {
      svg += horizontal ? label(x, top - 6, "middle", key) : vertical_label(x, top - 6, font_size, key);
      x += cell_width;
    }
    return svg + "</g>\n";
  }

  std::string draw(int64_t head) const {
    Lines numbered = titles;
    if (heads > 1) numbered.back() += detail::text(", head ", head + 1, " of ", heads);
    return line(R"(<g font-size="{}">{}</g>)", kTitle, title(numbered, width / 2)) +
           label(left - 6, top - 6, "end", kAxes) + (labeled ? labels() : "") + cells(head) +
           line(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="none" stroke="#888"/>)", left, top,
                columns * cell_width, rows * cell_height);
  }
};

std::string legend(int64_t y, int64_t per_cell) {
  std::string svg = R"(<defs><linearGradient id="scale">)";
  for (const double place : {0.0, 0.5, 1.0})
    svg += detail::text("<stop offset=\"", place, "\" stop-color=\"", color_of(place), "\"/>");
  svg += line(R"svg(</linearGradient></defs>
<text x="24" y="{}" text-anchor="end">0</text>
<rect x="30" y="{}" width="120" height="14" fill="url(#scale)" stroke="#888"/>
<text x="156" y="{}" text-anchor="start">1</text>)svg",
              y + 11, y, y + 11);
  const std::string note = detail::text("a cell: the largest of ", per_cell, " × ", per_cell, " weights");
  return per_cell > 1 ? svg + label(176, y + 11, "start", note) : svg;
}

}  // namespace

std::string attention_svg(const AttentionMap& map) {
  const Panel panel{map};
  const int64_t heads = panel.heads;
  const int64_t across = heads <= 4 && panel.width * heads > 1200 ? 2 : std::clamp<int64_t>(heads, 1, 4);
  const int64_t panels_width = across * panel.width;
  const Lines sentence = title_lines(map.sentence, std::max<int64_t>(panels_width, 420) - 40);
  const int64_t width = std::max<int64_t>(
      {panels_width, panel.per_cell > 1 ? 420 : 200, sentence.empty() ? 0 : widest(sentence, kTitle) + 40});
  const int64_t above = sentence.empty() ? 0 : 8 + std::ssize(sentence) * kTitleLine;
  const int64_t bottom = above + divide_up(heads, across) * panel.height, height = bottom + 30;
  const std::string bold = detail::text(" font-size=\"", kTitle, "\" font-weight=\"bold\"");
  std::string svg =
      detail::svg_begin(width, height, R"(font-family="sans-serif" font-size="12" fill="#222")") +
      line(R"(<rect x="0" y="0" width="{}" height="{}" fill="#fff"/>)", width, height) +
      title(sentence, width / 2, bold);
  for (int64_t head = 0; head < heads; ++head)
    svg += line(R"svg(<g transform="translate({} {})">)svg", head % across * panel.width,
                above + head / across * panel.height) +
           panel.draw(head) + "</g>\n";
  return svg + legend(bottom, panel.per_cell) + "</svg>\n";
}

}  // namespace heed
