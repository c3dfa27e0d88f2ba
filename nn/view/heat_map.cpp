#include "nn/view/heat_map.h"

#include <cstdio>

#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"
#include "nn/view/markup.h"
#include "tensor/index.h"
#include "tensor/table.h"

namespace heed {

using detail::joined;
using Lines = std::vector<std::string>;

namespace {

// Colours at 0, 1/2 and 1, linear between them: light to dark, so that grey prints keep the order. The page
// of attention has the same.
constexpr int kColours[3][3] = {{247, 251, 255}, {107, 174, 214}, {8, 48, 107}};
constexpr int64_t kTitle = 14, kLetters = 13, kSmallest = 10, kTitleLine = 20;  // pixels

std::string colour_of(double weight) {
  const double place = weight > 0 ? std::min(weight, 1.0) * 2 : 0;  // NaN as 0
  const int from = place < 1 ? 0 : 1;
  const auto mixed = [&](int i) {
    const double low = kColours[from][i], high = kColours[from + 1][i];
    return static_cast<unsigned>(std::lround(low + (place - from) * (high - low)));
  };
  char text[8];
  std::snprintf(text, sizeof text, "#%06x", mixed(0) << 16 | mixed(1) << 8 | mixed(2));
  return text;
}

std::string label(int64_t x, int64_t y, const char* anchor, const std::string& text,
                  const std::string& rest = "") {
  return joined("<text x=\"", x, "\" y=\"", y, "\" text-anchor=\"", anchor, "\"", rest, ">",
                detail::escaped(text), "</text>\n");
}

std::string rectangle(int64_t x, int64_t y, int64_t width, int64_t height, const std::string& rest) {
  return joined("<rect x=\"", x, "\" y=\"", y, "\" width=\"", width, "\" height=\"", height, "\" ", rest,
                "\n");
}

// Pixels that a text takes: a column of a terminal is 5/8 of the letters' size.
int64_t pixels(const std::string& text, int64_t size) { return (display_width(text) * size * 5 + 7) / 8; }

// A label of at most 16 columns, a cut marked.
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

// A label in a column that is narrower than it. Chinese characters stand upright, one below the other.
std::string upwards(int64_t x, int64_t bottom, int64_t size, const std::string& text) {
  const Tokens characters = split_characters(text, true);
  if (display_width(text) == std::ssize(characters))
    return joined("<g transform=\"translate(", x + size / 3, " ", bottom, ") rotate(-90)\">",
                  label(0, 0, "start", text), "</g>\n");
  std::string svg;
  for (auto character = characters.rbegin(); character != characters.rend(); ++character, bottom -= size)
    svg += label(x, bottom, "middle", *character);
  return svg;
}

// A title in lines that are no wider than `width`.
Lines titles_in(const std::string& text, int64_t width) {
  return detail::wrapped(text, width * 8 / (5 * kTitle));
}

// The places of everything in a panel, in pixels, and how many positions share a cell in each direction.
struct Layout {
  explicit Layout(const AttentionMap& map) {
    const int64_t queries = std::ssize(map.queries), keys = std::ssize(map.keys);
    constexpr double kCells = 40000;  // of a picture
    const int64_t heads = std::max<int64_t>(map.heads(), 1), longest = std::max<int64_t>({queries, keys, 1});
    const auto most =
        std::max(static_cast<int64_t>(std::sqrt(kCells / static_cast<double>(heads))), int64_t{8});
    each = (longest + most - 1) / most;
    columns = (keys + each - 1) / each;
    rows = (queries + each - 1) / each;
    const int64_t larger = std::max<int64_t>({columns, rows, 1});
    cell = std::clamp<int64_t>(600 / larger, larger <= 64 ? kSmallest + 2 : 3, 40);
    width_of_cell = cell;
    letters = each == 1 && cell >= kSmallest + 2 ? std::min(kLetters, cell - 2) : 0;
    const int64_t key_room = room(map.keys);
    if (key_room <= 96 && key_room * columns <= 800) width_of_cell = std::max(cell, key_room);
    upright = key_room <= width_of_cell;
    numbers = each == 1 && width_of_cell >= 30 && cell >= 16;
    left = std::max<int64_t>(room(map.queries) + 6, pixels(kAxes, 12) + 16);
    grid = std::max<int64_t>(columns * width_of_cell, 40);
    width = left + grid + 16;
    titles = titles_in(map.module.empty() ? "attention" : map.module, std::max<int64_t>(width, 420) - 40);
    for (const std::string& line : titles) width = std::max(width, pixels(line, kTitle) + 80);
    top = 8 + std::ssize(titles) * kTitleLine + std::max<int64_t>(upright ? 18 : key_room, 18);
    height = top + rows * cell + 16;
  }
  // Pixels for the longest label.
  int64_t room(const Tokens& tokens) const {
    int64_t longest = 0;
    for (const std::string& token : tokens) longest = std::max(longest, pixels(shortened(token), letters));
    return letters == 0 ? 0 : longest + 10;
  }

  static constexpr const char* kAxes = "query \\ key";
  bool upright, numbers;  // labels of keys that fit above their column; weights that fit into their cell
  int64_t each, columns, rows, cell, width_of_cell, letters, left, grid, top, width, height;
  Lines titles;
};

std::string cells(const AttentionMap& map, const Layout& at, int64_t head) {
  // The weights that share a cell.
  const auto part = [&](const Tensor& weights, int64_t dim, int64_t i) {
    const int64_t first = i * at.each;
    return narrow(weights, dim, first, std::min(at.each, weights.size(dim) - first));
  };
  const auto span = [&](const char* kind, const Tokens& tokens, int64_t i) {
    if (at.each == 1) return tokens[static_cast<size_t>(i)];
    return joined(kind, i * at.each, " to ", std::min<int64_t>((i + 1) * at.each, std::ssize(tokens)) - 1);
  };
  std::string svg;
  for (int64_t row = 0; row < at.rows; ++row) {
    const Tensor weights = part(map.weights[head], 0, row);
    for (int64_t column = 0; column < at.columns; ++column) {
      const double weight = max(part(weights, 1, column)).item();
      const std::string tokens = span("queries ", map.queries, row) + " → " + span("keys ", map.keys, column);
      const int64_t x = at.left + column * at.width_of_cell, y = at.top + row * at.cell;
      svg += rectangle(x, y, at.width_of_cell, at.cell,
                       joined("fill=\"", colour_of(weight), "\"><title>", detail::escaped(tokens), ": ",
                              decimals(weight, 4), "</title></rect>"));
      // In letters that the mouse does not see, so that it finds the cell.
      if (at.numbers)
        svg +=
            label(x + at.width_of_cell / 2, y + at.cell / 2 + 4, "middle", decimals(weight, 2),
                  joined(" font-size=\"11\" pointer-events=\"none\"", weight > 0.5 ? " fill=\"#fff\"" : ""));
    }
  }
  return svg;
}

std::string panel(const AttentionMap& map, const Layout& at, int64_t head) {
  Lines titles = at.titles;
  if (map.heads() > 1) titles.back() += joined(", head ", head + 1, " of ", map.heads());
  std::string svg = joined("<g font-size=\"", kTitle, "\">");
  for (size_t i = 0; i < titles.size(); ++i)
    svg += label(at.width / 2, kTitleLine * (static_cast<int64_t>(i) + 1), "middle", titles[i]);
  svg += "</g>\n" + label(at.left - 6, at.top - 6, "end", Layout::kAxes);
  if (at.letters > 0) {
    // Letters hang below the middle of their cell by a third of their size.
    const int64_t middle = at.cell / 2 + at.letters / 3;
    svg += joined("<g font-size=\"", at.letters, "\">\n");
    for (int64_t q = 0; q < at.rows; ++q)
      svg += label(at.left - 6, at.top + q * at.cell + middle, "end",
                   shortened(map.queries[static_cast<size_t>(q)]));
    for (int64_t k = 0; k < at.columns; ++k) {
      const std::string token = shortened(map.keys[static_cast<size_t>(k)]);
      const int64_t x = at.left + k * at.width_of_cell + at.width_of_cell / 2;
      svg += at.upright ? label(x, at.top - 6, "middle", token) : upwards(x, at.top - 6, at.letters, token);
    }
    svg += "</g>\n";
  }
  return svg + cells(map, at, head) +
         rectangle(at.left, at.top, at.columns * at.width_of_cell, at.rows * at.cell,
                   "fill=\"none\" stroke=\"#888\"/>");
}

std::string legend(int64_t y, int64_t each) {
  std::string svg = "<defs><linearGradient id=\"scale\">";
  for (const std::string place : {"0", "0.5", "1"})
    svg += "<stop offset=\"" + place + "\" stop-color=\"" + colour_of(std::stod(place)) + "\"/>";
  svg += "</linearGradient></defs>\n" + label(24, y + 11, "end", "0") +
         rectangle(30, y, 120, 14, "fill=\"url(#scale)\" stroke=\"#888\"/>") +
         label(156, y + 11, "start", "1");
  if (each > 1)
    svg += label(176, y + 11, "start", joined("a cell: the largest of ", each, " × ", each, " weights"));
  return svg;
}

}  // namespace

std::string attention_svg(const AttentionMap& map) {
  const Layout at(map);
  const int64_t heads = map.heads(),
                across = heads <= 4 && at.width * heads > 1200 ? 2 : std::clamp<int64_t>(heads, 1, 4),
                down = (heads + across - 1) / across;
  const Lines sentence = titles_in(map.sentence, std::max<int64_t>(across * at.width, 420) - 40);
  int64_t width = std::max<int64_t>(across * at.width, at.each > 1 ? 420 : 200);
  for (const std::string& line : sentence) width = std::max(width, pixels(line, kTitle) + 40);
  const int64_t above = sentence.empty() ? 0 : 8 + std::ssize(sentence) * kTitleLine,
                height = above + down * at.height + 30;
  std::string svg = joined("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"",
                           height, "\" viewBox=\"0 0 ", width, " ", height,
                           "\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n",
                           rectangle(0, 0, width, height, "fill=\"#fff\"/>"));
  for (size_t i = 0; i < sentence.size(); ++i)
    svg += label(width / 2, kTitleLine * (static_cast<int64_t>(i) + 1), "middle", sentence[i],
                 joined(" font-size=\"", kTitle, "\" font-weight=\"bold\""));
  for (int64_t head = 0; head < heads; ++head)
    svg += joined("<g transform=\"translate(", head % across * at.width, " ",
                  above + head / across * at.height, ")\">\n", panel(map, at, head), "</g>\n");
  return svg + legend(above + down * at.height, at.each) + "</svg>\n";
}

}  // namespace heed
