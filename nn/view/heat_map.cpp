#include "nn/view/heat_map.h"

#include "autograd/ops/basic.h"
#include "nn/view/markup.h"
#include "tensor/table.h"

namespace heed {

using detail::line, detail::Lines, detail::with_parts;

namespace {

struct HeatMapWords {
  const char *queries, *keys, *head, *masked, *shared_cell;
};
constexpr HeatMapWords kEnglish{"queries", "keys", "head {}", "masked",
                                "a cell: the largest of {} × {} weights"};
constexpr HeatMapWords kChinese{"查询", "键", "第 {} 个头", "被掩码遮住", "每格是 {} × {} 个权重中的最大值"};

constexpr double kMaxCells = 40000;  // in all panels
constexpr int64_t kTitle = 14, kLetters = 13, kSmallLetters = 12, kLineHeight = 20, kMapGap = 8;  // pixels
constexpr int64_t kLargestCell = 40, kWidestCell = 96, kNumberWidth = 28, kNumberHeight = 16,
                  kLabelColumns = 16;
// The width at which small letters have 10 pixels on a screen of 360.
constexpr int64_t kNarrow = 360 * kSmallLetters / 10;

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

std::string label(int64_t x, int64_t y, const char* anchor, const std::string& text,
                  const std::string& attributes = "") {
  return line(R"(<text x="{}" y="{}" text-anchor="{}"{}>{}</text>)", x, y, anchor, attributes,
              detail::escaped(text));
}

std::string frame(int64_t x, int64_t y, int64_t width, int64_t height, const char* fill) {
  return line(R"svg(<rect class="frame" x="{}" y="{}" width="{}" height="{}" fill="{}" stroke="#888"/>)svg",
              x, y, width, height, fill);
}

// The width of the widest text in pixels: a terminal column is 5/8 of the font size.
int64_t widest(const Lines& texts, int64_t font_size) {
  int64_t columns = 0;
  for (const std::string& text : texts) columns = std::max(columns, display_width(text));
  return divide_up(columns * font_size * 5, 8);
}

// The tokens as labels: long ones are cut, marked by an ellipsis.
Lines labels_of(Tokens tokens) {
  for (std::string& token : tokens)
    if (display_width(token) > kLabelColumns) token = detail::wrapped(token, kLabelColumns - 1)[0] + "…";
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

// The picture of one head: its geometry in pixels, and its parts.
struct Panel {
  const AttentionMap& map;
  const HeatMapWords& words;
  const int64_t heads = map.heads(), queries = std::ssize(map.queries), keys = std::ssize(map.keys);
  const int64_t max_rows = static_cast<int64_t>(
      std::max(8.0, std::sqrt(kMaxCells / static_cast<double>(std::max(heads, int64_t{1})))));
  // The number of positions that share a cell, in each direction.
  const int64_t per_cell = divide_up(std::max<int64_t>({queries, keys, 1}), max_rows);
  const int64_t columns = std::max<int64_t>(divide_up(keys, per_cell), 1),
                rows = divide_up(queries, per_cell);
  const int64_t larger = std::max(columns, rows);
  const int64_t largest_cell =
      std::clamp<int64_t>(600 / larger, larger <= 64 ? kSmallLetters : 3, kLargestCell);
  const bool labeled = per_cell == 1 && largest_cell >= kSmallLetters;
  const int64_t font_size = std::min(kLetters, largest_cell - 2);
  const Lines query_labels = labels_of(map.queries), key_labels = labels_of(map.keys);
  const int64_t key_width = space_for(key_labels);
  // Left of the cells are the name of the axis and the labels. Cells are smaller if the picture then fits
  // narrow screens, and wider if labels then fit horizontally.
  const int64_t left = kLineHeight + space_for(query_labels);
  const int64_t fitting = (kNarrow - left - kMapGap) / columns;
  const int64_t cell_height = fitting >= kNumberWidth ? std::min(largest_cell, fitting) : largest_cell;
  const int64_t cell_width =
      key_width <= std::min(fitting, kWidestCell) ? std::max(cell_height, key_width) : cell_height;
  const bool horizontal = key_width <= cell_width;  // labels of keys
  const bool numbers = per_cell == 1 && cell_width >= kNumberWidth && cell_height >= kNumberHeight;
  // Above the cells are the name of the head, the name of the axis and the labels.
  const int64_t axis_bottom = kLineHeight * (heads > 1 ? 2 : 1);
  const int64_t top = axis_bottom + (horizontal && labeled ? kLineHeight : key_width);
  const int64_t cells_width = columns * cell_width, cells_height = rows * cell_height;
  const int64_t center = left + cells_width / 2;
  // Of the panel.
  const int64_t width = left + std::max(cells_width, kLargestCell) + kMapGap;
  const int64_t height = top + cells_height + 2 * kMapGap;

  int64_t space_for(const Lines& labels) const { return labeled ? widest(labels, font_size) + 10 : 0; }

  // The weights that the cells show, row by row; -infinity where all are masked.
  std::vector<double> cell_weights(int64_t head) const {
    Tensor weights = map.weights[head];
    if (map.allowed.defined()) weights = where(map.allowed[head], weights, -INFINITY);
    const int64_t n = per_cell;
    if (n == 1) return weights.to_vector<double>();
    const Shape padding = {0, columns * n - keys, 0, rows * n - queries};
    return amax(reshape(pad(weights, padding, -INFINITY), {rows, n, columns, n}), {1, 3}).to_vector<double>();
  }

  // The token of a row or column, or the positions that share it.
  std::string positions(const char* kind, const Tokens& tokens, int64_t i) const {
    if (per_cell == 1) return tokens[static_cast<size_t>(i)];
    const int64_t end = std::min<int64_t>((i + 1) * per_cell, std::ssize(tokens));
    return detail::text(kind, " ", i * per_cell, "–", end - 1);
  }

  // The color of a cell is one of the three of the scale, more or less transparent, over the next lower one.
  // So a page can replace the three colors.
  std::string cells(int64_t head) const {
    std::string half, all, masked, printed;
    int64_t cell = 0;
    for (const double weight : cell_weights(head)) {
      const int64_t row = cell / columns, column = cell++ % columns;
      const int64_t x = left + column * cell_width, y = top + row * cell_height;
      const std::string box =
          with_parts(R"(<rect x="{}" y="{}" width="{}" height="{}")", x, y, cell_width, cell_height);
      const bool is_masked = weight == -INFINITY;
      const double place = is_masked ? 1 : weight > 0 ? std::min(weight, 1.0) * 2 : 0;  // NaN counts as 0
      if (place > 1) half += box + "/>\n";
      std::string& colored = is_masked ? masked : place > 1 ? all : half;
      colored += line(R"({} fill-opacity="{}"><title>{} → {}: {}</title></rect>)", box,
                      short_number(place > 1 ? place - 1 : place),
                      detail::escaped(positions(words.queries, map.queries, row)),
                      detail::escaped(positions(words.keys, map.keys, column)),
                      is_masked ? words.masked : decimals(weight, 4));
      // Numbers contrast with light and with dark pages: in the middle of the scale only black does.
      if (numbers && !is_masked)
        printed += label(x + cell_width / 2, y + cell_height / 2 + 4, "middle", decimals(weight, 2),
                         weight < 0.55   ? ""
                         : weight < 0.71 ? R"( style="fill: #000")"
                                         : R"( class="paper" fill="#fff")");
    }
    return line(R"(<rect class="heat-0" x="{}" y="{}" width="{}" height="{}" fill="#f7fbff"/>)", left, top,
                cells_width, cells_height) +
           line(R"svg(<g class="heat-50" fill="#6baed6">{}</g><g class="heat-100" fill="#08306b">{}</g>
<g fill="url(#masked)">{}</g><g pointer-events="none">{}</g>)svg",  // the mouse finds the cell below a number
                half, all, masked, printed);
  }

  std::string labels() const {
    std::string svg = line(R"(<g font-size="{}">)", font_size);
    int64_t y = top - cell_height + cell_height / 2 + font_size / 3;  // centers the letters
    for (const std::string& query : query_labels) svg += label(left - 6, y += cell_height, "end", query);
    int64_t x = left + cell_width / 2;
    for (const std::string& key : key_labels) {
      svg += horizontal ? label(x, top - 6, "middle", key) : vertical_label(x, top - 6, font_size, key);
      x += cell_width;
    }
    return svg + "</g>\n";
  }

  std::string draw(int64_t head) const {
    std::string svg = cells(head) + (labeled ? labels() : "");
    if (heads > 1)
      svg += label(center, axis_bottom - kLineHeight - 6, "middle", with_parts(words.head, head + 1));
    const int64_t axis_end = top + (cells_height + widest({words.queries}, kSmallLetters)) / 2;
    return svg + R"(<g class="soft" fill="#5c6370">)" + label(center, axis_bottom - 6, "middle", words.keys) +
           vertical_label(12, axis_end, kSmallLetters, words.queries) + "</g>\n" +
           frame(left, top, cells_width, cells_height, "none");
  }
};

std::string legend(int64_t y, const Panel& panel, bool masked) {
  std::string svg = R"svg(<defs><linearGradient id="scale">
<stop class="heat-0" offset="0" stop-color="#f7fbff"/><stop class="heat-50" offset="0.5" stop-color="#6baed6"/>
<stop class="heat-100" offset="1" stop-color="#08306b"/></linearGradient>
<pattern id="masked" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
<rect class="paper" width="6" height="6" fill="#fff"/>
<rect class="soft" width="1.5" height="6" fill="#5c6370"/></pattern></defs>
)svg" + frame(30, y, 120, 14, "url(#scale)") +
                    label(24, y + 11, "end", "0") + label(156, y + 11, "start", "1");
  if (masked) svg += frame(184, y, 14, 14, "url(#masked)") + label(204, y + 11, "start", panel.words.masked);
  const std::string note = with_parts(panel.words.shared_cell, panel.per_cell, panel.per_cell);
  return panel.per_cell > 1 ? svg + label(30, y + 11 + kLineHeight, "start", note) : svg;
}

}  // namespace

std::string attention_svg(const AttentionMap& map, const HeatMapOptions& options) {
  const bool chinese = detail::is_chinese(options.language);
  const Panel panel{map, chinese ? kChinese : kEnglish};
  // Panels are side by side as far as a narrow screen has space. Large ones are not legible there anyway.
  const int64_t space = panel.width <= kNarrow ? kNarrow : 1200;
  const int64_t across = std::clamp<int64_t>(std::min(space / panel.width, panel.heads), 1, 4);
  const int64_t panels_width = across * panel.width;

  // The title is centered over the cells, in lines that do not make the picture wider than that.
  const int64_t limit = std::max(panels_width, kNarrow);
  const int64_t center_of_cells = panel.center + (across - 1) * panel.width / 2;
  const int64_t columns = 2 * (limit - std::max(center_of_cells, limit / 2) - kMapGap) * 8 / (5 * kTitle);
  const Lines sentence = detail::wrapped(map.sentence, columns);
  const Lines layer = detail::wrapped(detail::layer_name(map.module, chinese), columns);
  const int64_t half_title = std::max(widest(sentence, kTitle), widest(layer, kTitle)) / 2 + kMapGap;
  const int64_t left = std::max<int64_t>(half_title - center_of_cells, 0), center = left + center_of_cells;

  const bool masked = map.allowed.defined() && !all(map.allowed).item<bool>();
  const int64_t legend_width = masked ? 212 + widest({panel.words.masked}, kSmallLetters) : 172;
  const int64_t width =
      std::max({left + panels_width, center + half_title, panel.per_cell > 1 ? 320 : legend_width});
  int64_t y = 0;
  std::string svg;
  for (const bool bold : {true, false})
    for (const std::string& text : bold ? sentence : layer)
      svg += label(center, y += kLineHeight, "middle", text,
                   with_parts(R"( font-size="{}"{})", kTitle, bold ? R"( font-weight="bold")" : ""));
  y += kMapGap;
  for (int64_t head = 0; head < panel.heads; ++head)
    svg += line(R"svg(<g transform="translate({} {})">)svg", left + head % across * panel.width,
                y + head / across * panel.height) +
           panel.draw(head) + "</g>\n";
  y += divide_up(panel.heads, across) * panel.height;
  svg += legend(y, panel, masked);
  y += panel.per_cell > 1 ? 2 * kLineHeight + kMapGap : kLineHeight + kMapGap;
  return detail::svg_begin(width, y,
                           with_parts(R"(font-family="sans-serif" font-size="{}")", kSmallLetters)) +
         svg + "</svg>\n";
}

}  // namespace heed
