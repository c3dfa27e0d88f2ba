#include "examples/guide/pictures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "examples/guide/html.h"
#include "nn/view/markup.h"
#include "tensor/error.h"
#include "tensor/utf8.h"

namespace program {

namespace {

using Rgb = std::array<int, 3>;

constexpr double kLegible = 10, kLarge = 13;  // pixels

// The colors of heat maps for 0, 1/2 and 1, as in nn/view/look.css, and those on dark pages. On the latter,
// white has a contrast of 4.5 below 0.55, where numbers in cells become black.
constexpr std::array<Rgb, 3> kHeat = {{{247, 251, 255}, {107, 174, 214}, {8, 48, 107}}};
constexpr std::array<Rgb, 3> kDarkHeat = {{{27, 32, 40}, {50, 109, 165}, {198, 226, 255}}};

// Colors of pictures by variable of page.css.
const std::vector<std::pair<Rgb, const char*>> kVariables = {
    {{0, 0, 0}, "ink"},        {{17, 17, 17}, "ink"},     {{34, 34, 34}, "ink"},
    {{51, 51, 51}, "ink"},     {{85, 85, 85}, "soft"},    {{102, 102, 102}, "soft"},
    {{119, 119, 119}, "soft"}, {{136, 136, 136}, "mute"}, {{176, 176, 176}, "mute"},
    {{230, 230, 230}, "line"}, {{238, 241, 245}, "box"},  {{255, 255, 255}, "paper"},
    {{0, 114, 178}, "blue"},   {{213, 94, 0}, "red"},     {{0, 158, 115}, "green"},
    {{204, 121, 167}, "pink"}, {{230, 159, 0}, "yellow"}, {{86, 180, 233}, "sky"},
    {{8, 65, 138}, "accent"},  {{200, 16, 46}, "mark"},
};

std::optional<Rgb> rgb_of(const std::string& color) {
  unsigned r = 0, g = 0, b = 0;
  if (color == "black") return Rgb{0, 0, 0};
  if (color == "white") return Rgb{255, 255, 255};
  if (std::sscanf(color.c_str(), "rgb(%u ,%u ,%u)", &r, &g, &b) == 3)
    return Rgb{static_cast<int>(r), static_cast<int>(g), static_cast<int>(b)};
  const bool digits =
      color.starts_with("#") && color.find_first_not_of("0123456789abcdefABCDEF", 1) == color.npos;
  if (!digits || (color.size() != 4 && color.size() != 7)) return {};
  std::string six = color.substr(1);
  if (six.size() == 3) six = {six[0], six[0], six[1], six[1], six[2], six[2]};
  const auto code = std::strtol(six.c_str(), nullptr, 16);
  return Rgb{static_cast<int>(code >> 16), static_cast<int>(code >> 8 & 255), static_cast<int>(code & 255)};
}

Rgb on_scale(const std::array<Rgb, 3>& scale, double place) {
  const size_t from = place < 0.5 ? 0 : 1;
  const double share = 2 * place - static_cast<double>(from);
  Rgb color{};
  for (size_t i = 0; i < 3; ++i)
    color[i] = static_cast<int>(std::lround(scale[from][i] + share * (scale[from + 1][i] - scale[from][i])));
  return color;
}

// Where a color is on the scale of heat maps, in hundredths.
std::optional<int> heat_of(const Rgb& color) {
  for (int place = 0; place <= 100; ++place) {
    const Rgb there = on_scale(kHeat, place / 100.0);
    int difference = 0;
    for (size_t i = 0; i < 3; ++i) difference = std::max(difference, std::abs(color[i] - there[i]));
    if (difference <= 2) return place;
  }
  return {};
}

// Without what covers the whole picture in white.
std::string without_background(const std::string& svg, const std::string& width) {
  bool first = true;
  return with_parts(svg, "<rect", ">", [&](const std::string& rect) {
    const std::string its_width = attribute_of(rect, "width");
    const bool covers = std::exchange(first, false) && (its_width == width || its_width == "100%") &&
                        rgb_of(attribute_of(rect, "fill")) == Rgb{255, 255, 255};
    return covers && rect.ends_with("/>") ? "" : rect;
  });
}

}  // namespace

std::string page_color(const std::string& color) {
  const std::optional<Rgb> rgb = rgb_of(color);
  if (!rgb) return color;
  const auto known = std::ranges::find(kVariables, *rgb, &decltype(kVariables)::value_type::first);
  if (known != kVariables.end()) return heed::detail::text("var(--", known->second, ", ", color, ")");
  const std::optional<int> heat = heat_of(*rgb);
  return heat ? heed::detail::text("var(--heat-", *heat, ", ", color, ")") : color;
}

std::string dark_heat_scale() {
  std::string css;
  for (int place = 0; place <= 100; ++place) {
    const auto [r, g, b] = on_scale(kDarkHeat, place / 100.0);
    css += heed::detail::text("--heat-", place, ": rgb(", r, " ", g, " ", b, ");\n");
  }
  return css;
}

std::string inline_svg(const std::string& svg, const std::string& prefix, const std::string& label) {
  const size_t begin = svg.find("<svg");
  heed::check(begin != svg.npos, "a picture without <svg");
  std::string picture = svg.substr(begin);
  const std::string root = picture.substr(0, picture.find('>') + 1), width = attribute_of(root, "width");

  picture = without_background(picture, width);
  for (const char* element :
       {"<title>Gnuplot", "<desc>Produced by GNUPLOT"}) {  // what gnuplot says of itself
    const size_t at = picture.find(element);
    if (at != picture.npos) picture.erase(at, picture.find('>', picture.find("</", at)) + 1 - at);
  }

  picture = with_parts(picture, "<title>gnuplot_plot_", "</title>",
                       [](const std::string&) { return std::string(); });

  double smallest = 1e9;  // letters
  picture = with_attributes(picture, [&](const std::string& name, const std::string& value) {
    if (name == "font-size") smallest = std::min(smallest, std::atof(value.c_str()));
    if (name == "font-family" && value.find("mono") == value.npos && value != "serif")
      return std::string("inherit");
    if (name == "id") return prefix + value;
    if (name.ends_with("href") && value.starts_with("#")) return "#" + prefix + value.substr(1);
    if (name == "fill" || name == "stroke" || name.ends_with("color")) {
      const std::string color = page_color(value);
      if (color != value) return color;
    }
    return heed::replaced(value, "url(#", "url(#" + prefix);
  });

  const double pixels = std::atof(width.c_str());
  std::string attributes =
      heed::detail::text(" style=\"--width: ", std::ceil(pixels * std::max(1.0, kLarge / smallest)),
                         "px; --least: ", std::ceil(pixels * kLegible / smallest), "px\"");
  if (attribute_of(root, "role").empty()) attributes += " role=\"img\"";
  if (attribute_of(root, "aria-label").empty())
    attributes += " aria-label=\"" + heed::detail::escaped(label) + "\"";
  return picture.insert(std::string("<svg").size(), attributes);
}

}  // namespace program
