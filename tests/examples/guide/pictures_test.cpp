#include "examples/guide/pictures.h"

#include "nn/view/heat_map.h"
#include "tests/support/expect.h"

using namespace program;

TEST_CASE("pictures: fixed colors become those of the page") {
  CHECK(page_color("black") == "var(--ink, black)");
  CHECK(page_color("rgb(  0, 114, 178)") == "var(--blue, rgb(  0, 114, 178))");
  CHECK(page_color("#FFF") == "var(--paper, #FFF)");
  CHECK(page_color("#e6e6e6") == "var(--line, #e6e6e6)");
  for (const char* other : {"none", "currentColor", "url(#scale)", "#123456", "var(--ink, #222)", "#zzz"})
    CHECK(page_color(other) == other);
}

TEST_CASE("pictures: the scale of heat maps has variants for dark pages") {
  CHECK(page_color("#f7fbff") == "var(--heat-0, #f7fbff)");
  CHECK(page_color("#6baed6") == "var(--heat-50, #6baed6)");
  CHECK(page_color("#08306b") == "var(--heat-100, #08306b)");
  const std::string scale = dark_heat_scale();
  CHECK(occurrences(scale, "--heat-") == 101);
  CHECK(contains(scale, "--heat-0: rgb(27 32 40);\n"));
  CHECK(contains(scale, "--heat-100: rgb(198 226 255);\n"));
}

TEST_CASE("pictures: gnuplot's picture as a part of a page") {
  const std::string svg = inline_svg(R"svg(<?xml version="1.0"?>
<svg width="520" height="380" viewBox="0 0 520 380" xmlns="http://www.w3.org/2000/svg">
<title>Gnuplot</title>
<desc>Produced by GNUPLOT 5.4 </desc>
<rect x="0" y="0" width="520" height="380" fill="#ffffff"/>
<defs><path id='gpPt6' stroke='currentColor'/></defs>
<g id="gnuplot_plot_1" ><title>data</title><title>gnuplot_plot_1</title>
<use xlink:href='#gpPt6' color='rgb(213,  94,   0)'/>
<g font-family="Helvetica,Arial,sans-serif" font-size="16.00"><text>x</text></g>
<rect width="9" fill="url(#fade)"/>
</g>
</svg>
)svg",
                                     "p2-", "a \"curve\"");
  CHECK(
      svg.starts_with("<svg style=\"--width: 520px; --least: 325px\" role=\"img\" "
                      "aria-label=\"a &quot;curve&quot;\" width=\"520\""));
  for (const char* gone : {"Gnuplot", "GNUPLOT", "#ffffff", "<title>gnuplot_plot_1", "<?xml", "Helvetica"})
    CHECK(!contains(svg, gone));
  for (const char* part : {"id='p2-gpPt6'", "xlink:href='#p2-gpPt6'", "id=\"p2-gnuplot_plot_1\"",
                           "<title>data</title>", "color='var(--red, rgb(213,  94,   0))'", "url(#p2-fade)"})
    CHECK(contains(svg, part));
  CHECK_ERROR_HAS(inline_svg("no picture", "", ""), "without <svg");
}

TEST_CASE("pictures: a heat map has the page's background and keeps its titles") {
  const AttentionMap map(tensor({{0.25, 0.75}}), {"q"}, {"k", "l"});
  const std::string svg = inline_svg(attention_svg(map), "p1-", "weights");
  CHECK(contains(svg, ".heed .paper { fill: var(--paper, #fff) }"));  // of the page
  CHECK(contains(svg, "<title>q → l: 0.7500</title>"));
  CHECK(contains(svg, "url(#p1-scale)"));
}
