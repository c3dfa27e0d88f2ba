#include "nn/view/heat_map.h"

#include "tests/support/expect.h"

// Checks that elements are nested and that text and attributes contain no unescaped < or &.
static void check_well_formed(const std::string& xml) {
  Texts open;
  for (size_t at = 0; at < xml.size();) {
    if (xml[at] == '&') {
      const std::string entity = xml.substr(at, xml.find(';', at) + 1 - at);
      CHECK_MESSAGE((entity == "&lt;" || entity == "&gt;" || entity == "&amp;" || entity == "&quot;"),
                    entity);
    }
    if (xml[at] != '<') {
      ++at;
      continue;
    }
    const size_t end = xml.find('>', at);
    const std::string inside = xml.substr(at + 1, end - at - 1);
    REQUIRE(inside.find('<') == std::string::npos);
    CHECK(occurrences(inside, "\"") % 2 == 0);
    if (inside[0] == '/') {
      REQUIRE(!open.empty());
      CHECK(inside.substr(1) == open.back());
      open.pop_back();
    } else if (inside.back() != '/') {
      open.push_back(inside.substr(0, inside.find(' ')));
    }
    at = end + 1;
  }
  CHECK(open.empty());
}

// The picture of a map, which is checked to be well-formed.
static std::string svg_of(const Tensor& weights, const Tokens& queries, const Tokens& keys,
                          const AttentionMapOptions& options = {}) {
  const std::string svg = attention_svg(AttentionMap(weights, queries, keys, options));
  check_well_formed(svg);
  return svg;
}

TEST_CASE("attention_svg: one cell, character by character") {
  CHECK(
      svg_of(tensor({{0.5}}), {"I"}, {"我"}, {.sentence = "我 → I"}) ==
      R"svg(<svg xmlns="http://www.w3.org/2000/svg" width="200" height="160" viewBox="0 0 200 160" font-family="sans-serif" font-size="12" fill="#222">
<rect x="0" y="0" width="200" height="160" fill="#fff"/>
<text x="100" y="20" text-anchor="middle" font-size="14" font-weight="bold">我 → I</text>
<g transform="translate(0 28)">
<g font-size="14"><text x="79" y="20" text-anchor="middle">attention</text>
</g>
<text x="93" y="40" text-anchor="end">query \ key</text>
<g font-size="13">
<text x="93" y="70" text-anchor="end">I</text>
<text x="119" y="40" text-anchor="middle">我</text>
</g>
<rect x="99" y="46" width="40" height="40" fill="#6baed6"><title>I → 我: 0.5000</title></rect>
<text x="119" y="70" text-anchor="middle" font-size="11" pointer-events="none">0.50</text>
<rect x="99" y="46" width="40" height="40" fill="none" stroke="#888"/>
</g>
<defs><linearGradient id="scale"><stop offset="0" stop-color="#f7fbff"/><stop offset="0.5" stop-color="#6baed6"/><stop offset="1" stop-color="#08306b"/></linearGradient></defs>
<text x="24" y="141" text-anchor="end">0</text>
<rect x="30" y="130" width="120" height="14" fill="url(#scale)" stroke="#888"/>
<text x="156" y="141" text-anchor="start">1</text>
</svg>
)svg");
}

TEST_CASE("attention_svg: narrow columns have vertical labels; Chinese characters are stacked") {
  const std::string svg = svg_of(ones({1, 40}), {"q"}, Tokens(40, "中国人"));
  CHECK(occurrences(svg, ">中</text>") == 40);
  CHECK(occurrences(svg, "rotate") == 0);
  CHECK(occurrences(svg_of(ones({1, 40}), {"q"}, Tokens(40, "Beijing")), "rotate(-90)") == 40);
  CHECK(occurrences(svg_of(ones({1, 4}), {"q"}, Tokens(4, "Beijing")), "rotate") == 0);
}

TEST_CASE("attention_svg: a long sentence is wrapped, and the first query is at the top") {
  std::string sentence;
  for (int i = 0; i < 40; ++i) sentence += "word" + std::to_string(i) + " ";
  const std::string svg = svg_of(eye(3), {"a", "b", "c"}, {"x", "y", "z"}, {.sentence = sentence});
  CHECK(occurrences(svg, "font-weight=\"bold\"") > 3);
  for (const char* word : {"word0 ", "word39"}) CHECK(occurrences(svg, word) == 1);
  CHECK(svg.find(">a</text>") < svg.find(">b</text>"));
  CHECK(occurrences(svg, ">1.00</text>") == 3);
}

TEST_CASE("attention_svg: a panel for each head, a titled cell for each weight, tokens escaped") {
  const Tokens queries = {"<bos>", "a&b", "\"q\""}, keys = {"k'", "]]>"};
  const std::string svg = svg_of(full({1, 5, 3, 2}, 0.5), queries, keys, {.module = "layers.<0>"});
  CHECK(occurrences(svg, "<rect") == 5 * (6 + 1) + 2);  // with a frame each, the background and the legend
  CHECK(occurrences(svg, "<title>&lt;bos&gt; → ]]&gt;: 0.5000</title>") == 5);
  CHECK(occurrences(svg, "layers.&lt;0&gt;, head 5 of 5<") == 1);
  CHECK(occurrences(svg, ">a&amp;b</text>") == 5);
  CHECK(occurrences(svg, "http") == 1);  // the namespace
}

TEST_CASE("attention_svg: colors go from light to dark and stay within the scale") {
  const std::string svg = svg_of(tensor({{0, 0.5, 1, -3, 9, kNaN}}), {"q"}, Tokens(6, "k"));
  for (const char* cell :
       {"#f7fbff\"><title>q → k: 0.0000", "#6baed6\"><title>q → k: 0.5000", "#08306b\"><title>q → k: 1.0000",
        "#f7fbff\"><title>q → k: -3.0000", "#08306b\"><title>q → k: 9.0000", "#f7fbff\"><title>q → k: nan"})
    CHECK(occurrences(svg, cell) == 1);
}

TEST_CASE("attention_svg: many weights share cells, which show the largest; no weights are no error") {
  Tensor weights = zeros({1000, 900});
  weights.mutable_data<float>()[900 * 999 + 899] = 0.75F;
  const std::string svg = svg_of(weights, Tokens(1000, "q"), Tokens(900, "k"));
  CHECK(occurrences(svg, "<rect") == 200 * 180 + 3);
  CHECK(occurrences(svg, "a cell: the largest of 5 × 5 weights") == 1);
  CHECK(occurrences(svg, "<title>queries 995 to 999 → keys 895 to 899: 0.7500</title>") == 1);
  svg_of(zeros({3, 0}), Tokens(3, "q"), {});
}

TEST_CASE("attention_svg: long tokens are cut between characters") {
  const std::string svg = svg_of(ones({1, 1}), {"注意力注意力注意力"}, {"abcdefghijklmnop"});
  CHECK(occurrences(svg, ">注意力注意力注…</text>") == 1);
  CHECK(occurrences(svg, ">abcdefghijklmnop</text>") == 1);
}
