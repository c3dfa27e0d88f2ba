#include "examples/guide/formulas.h"

#include "examples/guide/pictures.h"
#include "examples/shared/program.h"
#include "nn/view/markup.h"
#include "tests/support/browser.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"

using namespace program;

namespace {

// pandoc's MathML of a formula in TeX, corrected.
std::string math_of(const std::string& tex) {
  const Folder folder;
  folder.write("formula.md", "$" + tex + "$");
  REQUIRE(run_tool(folder.path.string(),
                   {"pandoc", "--to", "html5", "--mathml", "--output", "formula.html", "formula.md"}));
  const std::string html = with_tidy_formulas(read_file(folder / "formula.html")), end = "</math>";
  const size_t begin = html.find("<math");
  return html.substr(begin, html.find(end) + end.size() - begin);
}

// The look of pages with the font of these formulas.
std::string style_for(const std::string& formulas) {
  const Folder folder;
  const MathFont font = math_font(folder.path.string(), formula_characters(formulas));
  REQUIRE_MESSAGE(font.missing == "", font.missing);
  const std::string css = read_file(std::string(HEED_SOURCE_DIR) + "/examples/guide/page.css");
  return "<style>" + font.css + heed::detail::filled(css, {{"dark-heat-scale", ""}}) + "</style>";
}

// The rectangle of a screenshot that is not white, and its pixels.
struct Ink {
  int left = 1 << 20, right = -1, top = 1 << 20, bottom = -1;
  std::vector<uint8_t> shades;
};
Ink ink_of(const Screenshot& shot, int from_y, int to_y, int from_x = 0, int to_x = 1 << 20) {
  Ink ink;
  to_x = std::min(to_x, shot.width);
  for (int y = from_y; y < to_y; ++y)
    for (int x = from_x; x < to_x; ++x)
      if (shot.at(x, y) < 128) {
        ink.left = std::min(ink.left, x), ink.right = std::max(ink.right, x);
        ink.top = std::min(ink.top, y), ink.bottom = std::max(ink.bottom, y);
      }
  for (int y = ink.top; y <= ink.bottom; ++y)
    for (int x = ink.left; x <= ink.right; ++x) ink.shades.push_back(shot.at(x, y));
  return ink;
}

// The ink of each of these lines of HTML, 100 pixels apart, in large letters.
std::vector<Ink> painted(const std::vector<std::string>& lines, const std::string& formulas) {
  std::string body;
  for (size_t i = 0; i < lines.size(); ++i)
    body += "<p style='position: absolute; left: 40px; margin: 0; top: " + std::to_string(100 * i + 20) +
            "px; font-size: 40px'>" + lines[i] + "</p>";
  const Folder folder;
  const std::string page =
      folder.write("page.html", "<!DOCTYPE html><meta charset=utf-8>" + style_for(formulas) + body);
  const Screenshot shot = screenshot(page, 500, static_cast<int>(100 * lines.size()));
  std::vector<Ink> ink;
  for (size_t i = 0; i < lines.size(); ++i)
    ink.push_back(ink_of(shot, static_cast<int>(100 * i), static_cast<int>(100 * (i + 1))));
  return ink;
}

}  // namespace

TEST_CASE("formulas: words in \\mathrm are upright words") {
  CHECK(with_tidy_formulas("<mstyle mathvariant=\"normal\"><mi>G</mi><mi>R</mi><mi>U</mi></mstyle>") ==
        "<mi mathvariant=\"normal\">GRU</mi>");
  const std::string more = "<mstyle mathvariant=\"normal\"><mfrac><mi>a</mi></mfrac></mstyle>";
  CHECK(with_tidy_formulas(more) == more);
}

TEST_CASE("formulas: brackets are stretched around what is high only") {
  const auto bracketed = [](const std::string& inside, const char* stretchy) {
    const std::string mo = std::string("<mo stretchy=\"") + stretchy + "\" form=\"";
    return mo + "prefix\">(</mo>" + inside + mo + "postfix\">)</mo>";
  };
  CHECK(with_tidy_formulas(bracketed("<mi>x</mi>", "true")) == bracketed("<mi>x</mi>", "false"));
  const std::string high = bracketed("<mfrac><mi>x</mi><mi>y</mi></mfrac>", "true");
  CHECK(with_tidy_formulas(high) == high);
  CHECK(with_tidy_formulas(bracketed(high + bracketed("", "true"), "true")) ==
        bracketed(high + bracketed("", "false"), "true"));
}

TEST_CASE("formulas: a minus after a bracket or a comma is a sign; arrows over letters stretch") {
  const std::string sign = "<mo form=\"prefix\" lspace=\"0\" rspace=\"0\">−</mo><mn>5</mn>";
  const std::string pair = math_of("(-5, -5)"), difference = math_of("9 - 5");
  CHECK(contains(pair, "(</mo>" + sign));
  CHECK(contains(pair, ",</mo>" + sign));
  CHECK(contains(difference, "<mo>−</mo>"));
  CHECK(contains(math_of("\\overrightarrow{h} \\overleftarrow{h}"), "<mo accent=\"true\">→</mo>"));
}

TEST_CASE("formulas: a mark stays with the formula before it") {
  const std::string x = "<math display=\"inline\"><mi>x</mi></math>";
  CHECK(with_tidy_formulas("(" + x + "), " + x + "。" + x + " and " + x) ==
        "(<span class=\"unbroken\">" + x + "),</span> <span class=\"unbroken\">" + x + "。</span>" + x +
            " and " + x);
}

TEST_CASE("formulas: the characters of a font are those that are drawn") {
  const std::set<uint32_t> characters =
      formula_characters("a<math><mi>h</mi><mi>α</mi><mo>&lt;</mo><annotation>\\beta b</annotation></math>c");
  for (const uint32_t code : {uint32_t{'h'}, 0x210Eu, 0x3B1u, 0x1D6FCu, uint32_t{'<'}, 0x221Au, 0x2212u})
    CHECK(characters.contains(code));
  for (const char other : {'a', 'b', 'c', '\\', ';'})
    CHECK(!characters.contains(static_cast<uint32_t>(other)));
}

TEST_CASE("formulas: in Chromium subscripts are small and below, and the font is the page's" *
          doctest::test_suite("slow")) {
  if (!has_browser()) return;
  const std::string formulas = math_of("\\alpha_{ij} v_j + n_b + A_{\\text{none}} + d_{\\mathrm{model}}");
  const Folder folder;
  const Visit seen =
      visit(folder.write("page.html", "<!DOCTYPE html><meta charset=utf-8>" + style_for(formulas) + formulas),
            R"js(
    const all = document.querySelectorAll('msub');
    note(`${all.length} subscripts`);
    for (const {children: [base, index]} of all) {
      const size = element => parseFloat(getComputedStyle(element.querySelector('*') ?? element).fontSize);
      const lower = index.getBoundingClientRect().bottom - base.getBoundingClientRect().bottom;
      if (size(index) >= 0.85 * size(base)) note(`${index.textContent} is large`);
      if (lower < 2) note(`${index.textContent} is ${lower} pixels lower`);
    }
    for (const {family, status} of await document.fonts.ready) note(`${family} ${status}`);
  )js");
  CHECK(seen.console == "");
  CHECK(seen.result == "5 subscripts\nGuide Math loaded\n");
}

TEST_CASE(
    "formulas: in Chromium words are upright, subscripts below, and both languages alike, pixel by pixel" *
    doctest::test_suite("slow")) {
  if (!has_browser()) return;
  const std::string text = math_of("\\text{model}"), roman = math_of("\\mathrm{model}"),
                    product = math_of("model"), index = math_of("n_b"),
                    index_of_sum = math_of("\\sum_i \\alpha_i");
  const std::vector<Ink> ink =
      painted({"<span style='font: 1.08em \"Guide Math\"'>model</span>", text, roman, product, index,
               "<span lang=en>" + index_of_sum + "</span>", "<span lang=zh-CN>" + index_of_sum + "</span>"},
              text + roman + product + index + index_of_sum);
  for (const Ink& line : ink) REQUIRE(line.right > 0);
  CHECK(ink[1].shades == ink[0].shades);
  CHECK(ink[2].shades == ink[0].shades);
  CHECK(ink[3].shades != ink[0].shades);

  // The b of n_b ends below the n, and is smaller.
  const Ink& both = ink[4];
  const int width = both.right - both.left + 1;
  const auto lowest = [&](int from, int to) {
    int row = -1;
    for (size_t i = 0; i < both.shades.size(); ++i)
      if (const int x = static_cast<int>(i) % width; from <= x && x < to && both.shades[i] < 128)
        row = static_cast<int>(i) / width;
    return row;
  };
  CHECK(lowest(2 * width / 3, width) >= lowest(0, width / 2) + 4);

  CHECK(ink[5].shades == ink[6].shades);
}
