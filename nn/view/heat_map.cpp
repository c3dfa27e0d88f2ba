#include "nn/view/heat_map.h"

#include <cstdio>

#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"
#include "nn/table.h"
#include "nn/view/markup.h"
#include "tensor/index.h"

namespace heed {

using detail::joined;

namespace {

// Colours at 0, 1/2 and 1, linear between them: light to dark, so that grey prints keep the order.
constexpr int kColours[3][3] = {{247, 251, 255}, {107, 174, 214}, {8, 48, 107}};

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

std::string label(int64_t x, int64_t y, const char* anchor, const std::string& text) {
  return joined("<text x=\"", x, "\" y=\"", y, "\" text-anchor=\"", anchor, "\">", detail::escaped(text),
                "</text>\n");
}

std::string rectangle(int64_t x, int64_t y, int64_t width, int64_t height, const std::string& rest) {
  return joined("<rect x=\"", x, "\" y=\"", y, "\" width=\"", width, "\" height=\"", height, "\" ", rest,
                "\n");
}

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

// The places of everything in pixels, and how many positions share a cell in each direction.
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
    cell = std::clamp<int64_t>(480 / std::max<int64_t>({columns, rows, 1}), 3, 28);
    letters = each == 1 && cell >= 8 ? std::min<int64_t>(cell * 3 / 4, 13) : 0;
    left = std::max<int64_t>(room(map.queries), 80);
    const int64_t slanted = room(map.keys) * 7 / 10;
    top = 36 + std::max<int64_t>(slanted, 12);
    width = std::max<int64_t>(left + columns * cell + slanted + 16, 200);
    height = top + rows * cell + 20;
  }
  // Pixels for the longest label.
  int64_t room(const Tokens& tokens) const {
    int64_t longest = 0;
    for (const std::string& token : tokens) longest = std::max(longest, display_width(shortened(token)));
    return letters == 0 ? 0 : longest * letters * 5 / 8 + 10;
  }

  int64_t each, columns, rows, cell, letters, left, top, width, height;
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
      svg += rectangle(at.left + column * at.cell, at.top + row * at.cell, at.cell, at.cell,
                       joined("fill=\"", colour_of(weight), "\"><title>", detail::escaped(tokens), ": ",
                              decimals(weight, 4), "</title></rect>"));
    }
  }
  return svg;
}

std::string panel(const AttentionMap& map, const Layout& at, int64_t head) {
  std::string title = map.module.empty() ? "attention" : map.module;
  if (map.heads() > 1) title += ", head " + std::to_string(head);
  std::string svg = "<g font-size=\"14\">" + label(at.width / 2, 18, "middle", title) + "</g>\n" +
                    label(at.left - 6, at.top - 6, "end", "query \\ key");
  if (at.letters > 0) {
    // Letters hang below the middle of their cell by a third of their size.
    const int64_t middle = at.cell / 2 + at.letters / 3;
    svg += joined("<g font-size=\"", at.letters, "\">\n");
    for (int64_t q = 0; q < at.rows; ++q)
      svg += label(at.left - 6, at.top + q * at.cell + middle, "end",
                   shortened(map.queries[static_cast<size_t>(q)]));
    for (int64_t k = 0; k < at.columns; ++k)
      svg += joined("<g transform=\"translate(", at.left + k * at.cell + middle, " ", at.top - 6,
                    ") rotate(-45)\">", label(0, 0, "start", shortened(map.keys[static_cast<size_t>(k)])),
                    "</g>\n");
    svg += "</g>\n";
  }
  return svg + cells(map, at, head);
}

std::string legend(int64_t y) {
  std::string svg = "<defs><linearGradient id=\"scale\">";
  for (const std::string place : {"0", "0.5", "1"})
    svg += "<stop offset=\"" + place + "\" stop-color=\"" + colour_of(std::stod(place)) + "\"/>";
  return svg + "</linearGradient></defs>\n" + label(24, y + 11, "end", "0") +
         rectangle(30, y, 120, 14, "fill=\"url(#scale)\" stroke=\"#888\"/>") +
         label(156, y + 11, "start", "1");
}

}  // namespace

std::string attention_svg(const AttentionMap& map) {
  const Layout at(map);
  const int64_t across = std::clamp<int64_t>(map.heads(), 1, 4), down = (map.heads() + across - 1) / across;
  const int64_t width = across * at.width, height = down * at.height + 30;
  std::string svg = joined("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"",
                           height, "\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n",
                           rectangle(0, 0, width, height, "fill=\"#fff\"/>"));
  for (int64_t head = 0; head < map.heads(); ++head)
    svg += joined("<g transform=\"translate(", head % across * at.width, " ", head / across * at.height,
                  ")\">\n", panel(map, at, head), "</g>\n");
  return svg + legend(down * at.height) + "</svg>\n";
}

}  // namespace heed
