#include "examples/guide/diagrams_hand.h"

#include <regex>

#include "tests/support/expect.h"

namespace program::drawing {

static std::string draw_alone(const auto& draw, bool chinese = false) {
  Picture picture("name", chinese);
  draw(picture);
  return picture.svg({"What it shows.", "图的内容。"});
}

static std::string label_markup(const Words& words) {
  return draw_alone([&](Picture& draw) { draw.label({10, 20}, words, {.size = 10}); });
}

TEST_CASE("Picture: as high as what is drawn, with the sentence as its label") {
  const std::string svg = draw_alone([](Picture& draw) { draw.box({10, 20, 30, 40}); });
  CHECK(contains(svg, R"(viewBox="0 0 360 68")"));
  CHECK(contains(svg, R"(role="img" aria-label="What it shows.")"));
  CHECK(contains(draw_alone([](Picture&) {}, true), R"(aria-label="图的内容。")"));
}

TEST_CASE("label: the words of the language, mathematics in italics") {
  const Words words = {"a key", "键"};
  CHECK(contains(label_markup(words), R"(<text x="10" y="23.6" font-size="10")"));
  CHECK(contains(label_markup(words), ">a key</text>"));
  CHECK(contains(draw_alone([&](Picture& draw) { draw.label({0, 0}, words); }, true), ">键</text>"));
  CHECK(contains(label_markup("a < b & c"), ">a &lt; b &amp; c</text>"));
  CHECK(occurrences(label_markup("two\nlines"), "<text") == 2);
  CHECK(contains(label_markup("key $k$"),
                 R"(>key <tspan font-family="serif" font-style="italic">k</tspan></text>)"));
  CHECK(contains(label_markup("$-2$"), R"(<tspan font-family="serif">−2</tspan>)"));
}

TEST_CASE("label: subscripts and superscripts return to the line") {
  const std::string svg = label_markup("$h_{t-1} K^T x$");
  CHECK(contains(svg, R"(font-size="9.5" dy="2.8">t</tspan>)"));
  CHECK(contains(svg, R"(<tspan font-family="serif" font-size="9.5">−1</tspan>)"));
  CHECK(contains(svg, R"(dy="-2.8"> </tspan>)"));
  CHECK(contains(svg, R"(font-size="9.5" dy="-3.6">T</tspan>)"));
  CHECK(contains(svg, R"(dy="3.6"> </tspan>)"));
}

TEST_CASE("Box: edges and cells") {
  const Box box = {10, 20, 30, 40};
  CHECK(box.center().x == 25);
  CHECK(box.top(0.2).x == 16);
  CHECK(box.bottom().y == 60);
  CHECK(box.left(0.25).y == 30);
  CHECK(box.right().x == 40);
  const Box cell = box.cell(1, 2, 2, 3);
  CHECK(Values{cell.x, cell.y, cell.width, cell.height} == Values{30, 40, 10, 20});
  CHECK(around({5, 6}, 2, 4).y == 4);
}

TEST_CASE("arrow: the head ends where the arrow does") {
  const auto arrow = [](const Points& points) {
    return draw_alone([&](Picture& draw) { draw.arrow(points); });
  };
  const std::string svg = arrow({{10, 10}, {50, 10}});
  CHECK(contains(svg, R"(d="M10 10L43 10")"));
  CHECK(contains(svg, R"svg(marker-end="url(#name-head-soft)")svg"));
  CHECK(contains(svg, R"(<marker id="name-head-soft")"));
  CHECK(contains(arrow({{10, 10}, {50, 10}, {50, 30}}), R"(d="M10 10L50 10L50 23")"));
  CHECK(contains(arrow({{10, 10}, {50, 10}, {53, 10}}), R"(d="M10 10L46 10")"));
}

TEST_CASE("Picture: each marker and pattern is defined once") {
  const std::string svg = draw_alone([](Picture& draw) {
    for (const double y : {0.0, 20.0}) {
      draw.arrow({{0, y}, {40, y}});
      draw.hatched({50, y, 10, 10});
    }
    draw.arrow({{0, 40}, {40, 40}}, {.color = kQuery});
  });
  CHECK(occurrences(svg, "<marker id=") == 2);
  CHECK(occurrences(svg, "<pattern id=\"name-hatch\"") == 1);
  CHECK(occurrences(svg, "fill=\"url(#name-hatch)\"") == 2);
}

TEST_CASE("Picture: weights as shades and as widths") {
  const std::string svg = draw_alone([](Picture& draw) {
    draw.shaded({0, 0, 20, 20}, 2, {0, 0.25, 0.5, 1});
    draw.area({0, 20, 20, 10}, kKey, 0.75);
    draw.weight({5, 0}, {5, 10}, 0.5);
  });
  CHECK(occurrences(svg, "<rect") == 5);
  CHECK(contains(svg, R"(fill-opacity="0.25")"));
  CHECK(contains(svg, R"svg(height="10" fill="var(--key, #0f7f63)" fill-opacity="0.75"/>)svg"));
  CHECK(contains(svg, R"(d="M2.7 0H7.3L7.3 10H2.7Z")"));
  CHECK(largest_difference(softmax_of({0, std::log(3)}), {0.25, 0.75}) < 1e-12);
}

// Relative luminance of a color #rrggbb, by WCAG 2.
static double luminance_of(const std::string& color) {
  const auto part = [&](size_t at) {
    const double x = std::stoi(color.substr(at, 2), nullptr, 16) / 255.0;
    return x <= 0.03928 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
}

TEST_CASE("queries, keys and values are legible on white, and visible on dark pages") {
  const auto contrast = [](double a, double b) { return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05); };
  for (const Color color : {kQuery, kKey, kValue}) {
    const double luminance = luminance_of(color.fallback);
    CHECK(contrast(luminance, 1) >= 4.5);
    CHECK(contrast(luminance, luminance_of("#191a1c")) >= 3);
  }
}

}  // namespace program::drawing
