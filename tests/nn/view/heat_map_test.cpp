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
                          const AttentionMapOptions& options = {}, const std::string& language = "en") {
  const std::string svg =
      attention_svg(AttentionMap(weights, queries, keys, options), {.language = language});
  check_well_formed(svg);
  return svg;
}

// The picture without its styles, which have rules for all classes.
static std::string body_of(const std::string& svg) { return svg.substr(svg.find("</style>")); }

static int64_t width_of(const std::string& svg) { return std::stoll(svg.substr(svg.find(" width=") + 8)); }

TEST_CASE("attention_svg: one cell, character by character") {
  CHECK(body_of(svg_of(tensor({{0.75}}), {"I"}, {"我"}, {.sentence = "我 → I"})) == R"svg(</style>
<rect class="paper" width="172" height="152" fill="#fff"/>
<text x="59" y="20" text-anchor="middle" font-size="14" font-weight="bold">我 → I</text>
<g transform="translate(0 28)">
<rect class="heat-0" x="39" y="40" width="40" height="40" fill="#f7fbff"/>
<g class="heat-50" fill="#6baed6"><rect x="39" y="40" width="40" height="40"/>
</g><g class="heat-100" fill="#08306b"><rect x="39" y="40" width="40" height="40" fill-opacity="0.5"><title>I → 我: 0.7500</title></rect>
</g>
<g fill="url(#masked)"></g><g pointer-events="none"><text x="59" y="64" text-anchor="middle" class="paper" fill="#fff">0.75</text>
</g>
<g font-size="13">
<text x="33" y="64" text-anchor="end">I</text>
<text x="59" y="34" text-anchor="middle">我</text>
</g>
<g class="soft" fill="#5c6370"><text x="59" y="14" text-anchor="middle">keys</text>
<g transform="translate(16 86) rotate(-90)"><text x="0" y="0" text-anchor="start">queries</text>
</g>
</g>
<rect class="frame" x="39" y="40" width="40" height="40" fill="none" stroke="#888"/>
</g>
<defs><linearGradient id="scale">
<stop class="heat-0" offset="0" stop-color="#f7fbff"/><stop class="heat-50" offset="0.5" stop-color="#6baed6"/>
<stop class="heat-100" offset="1" stop-color="#08306b"/></linearGradient>
<pattern id="masked" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
<rect class="paper" width="6" height="6" fill="#fff"/>
<rect class="soft" width="1.5" height="6" fill="#5c6370"/></pattern></defs>
<rect class="frame" x="30" y="124" width="120" height="14" fill="url(#scale)" stroke="#888"/>
<text x="24" y="135" text-anchor="end">0</text>
<text x="156" y="135" text-anchor="start">1</text>
</svg>
)svg");
}

TEST_CASE("attention_svg: narrow columns have vertical labels; Chinese characters are stacked") {
  const std::string svg = svg_of(ones({1, 40}), {"q"}, Tokens(40, "中国人"));
  CHECK(occurrences(svg, ">中</text>") == 40);
  CHECK(occurrences(svg, "rotate(-90)") == 1);  // the name of the axis
  CHECK(occurrences(svg_of(ones({1, 40}), {"q"}, Tokens(40, "Beijing")), "rotate(-90)") == 41);
  CHECK(occurrences(svg_of(ones({1, 4}), {"q"}, Tokens(4, "Beijing")), "rotate(-90)") == 1);
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
  CHECK(occurrences(svg, "<title>&lt;bos&gt; → ]]&gt;: 0.5000</title>") == 5);
  CHECK(occurrences(svg, "<title>") == 5 * 6);
  CHECK(occurrences(svg, ">layers.&lt;0&gt;</text>") == 1);
  CHECK(occurrences(svg, ">head 5</text>") == 1);
  CHECK(occurrences(svg, ">a&amp;b</text>") == 5);
  CHECK(occurrences(svg, "http") == 1);  // the namespace
}

TEST_CASE("attention_svg: the title is the sentence and the layer in words, and no title without them") {
  const Tensor weights = full({1, 2, 2, 2}, 0.5);
  const Tokens two = {"a", "b"};
  const AttentionMapOptions options{.sentence = "a b",
                                    .module = "transformer.decoder.layers.11.multihead_attn"};
  const std::string english = svg_of(weights, two, two, options),
                    chinese = svg_of(weights, two, two, options, "zh");
  for (const char* text : {">a b</text>", ">decoder, layer 12, cross-attention</text>", ">head 2</text>",
                           ">queries</text>", ">keys</text>"})
    CHECK(contains(english, text));
  for (const char* text : {">a b</text>", ">解码器，第 12 层，交叉注意力</text>", ">第 2 个头</text>",
                           ">查</text>", ">键</text>"})
    CHECK(contains(chinese, text));
  CHECK_FALSE(contains(svg_of(weights, two, two), "font-size=\"14\""));
}

TEST_CASE("attention_svg: masked cells are hatched; small and zero weights keep their numbers") {
  const Tokens three = {"a", "b", "c"};
  const Tensor weights = tensor({{1, 0, 0}, {0.998, 0.002, 0}, {0, 1, 0}});
  const std::string svg = svg_of(weights, three, three, {.mask = Mask::causal(3)});
  CHECK(occurrences(svg, ": masked</title>") == 3);
  CHECK(occurrences(svg, ">0.00</text>") == 3);
  CHECK(occurrences(svg, ">masked</text>") == 1);  // the legend
  CHECK(occurrences(svg, "<title>b → b: 0.0020</title>") == 1);
  CHECK(contains(svg_of(weights, three, three, {.mask = Mask::causal(3)}, "zh"), ">被掩码遮住</text>"));
  CHECK_FALSE(contains(svg_of(weights, three, three, {.mask = Mask(ones({3, 3}) > 0)}), ">masked</text>"));

  // A cell of several weights is hatched if all of them are masked.
  const std::string large =
      svg_of(full({400, 400}, 0.25), Tokens(400, "q"), Tokens(400, "k"), {.mask = Mask::causal(400)});
  CHECK(occurrences(large, ": masked</title>") == 200 * 199 / 2);
  CHECK(occurrences(large, ": 0.2500</title>") == 200 * 201 / 2);
}

TEST_CASE("attention_svg: colors go from light to dark and stay within the scale") {
  const std::string svg = svg_of(tensor({{0, 0.25, 0.5, 0.75, 1, -3, 9, kNaN}}), {"q"}, Tokens(8, "k"));
  const size_t half = svg.find("<g class=\"heat-50\""), all = svg.find("<g class=\"heat-100\"");
  const auto group_of = [&](const std::string& cell) {
    CHECK(occurrences(svg, cell) == 1);
    return svg.find(cell) > all ? 100 : svg.find(cell) > half ? 50 : 0;
  };
  for (const char* cell :
       {"\"0\"><title>q → k: 0.0000", "\"0.5\"><title>q → k: 0.2500", "\"1\"><title>q → k: 0.5000",
        "\"0\"><title>q → k: -3.0000", "\"0\"><title>q → k: nan"})
    CHECK(group_of(cell) == 50);
  for (const char* cell :
       {"\"0.5\"><title>q → k: 0.7500", "\"1\"><title>q → k: 1.0000", "\"1\"><title>q → k: 9.0000"})
    CHECK(group_of(cell) == 100);
}

TEST_CASE("attention_svg: many weights share cells, which show the largest; no weights are no error") {
  Tensor weights = zeros({1000, 900});
  weights.mutable_data<float>()[900 * 999 + 899] = 0.75F;
  const std::string svg = svg_of(weights, Tokens(1000, "q"), Tokens(900, "k"));
  CHECK(occurrences(svg, "<title>") == 200 * 180);
  CHECK(occurrences(svg, "a cell: the largest of 5 × 5 weights") == 1);
  CHECK(occurrences(svg, "<title>queries 995–999 → keys 895–899: 0.7500</title>") == 1);
  svg_of(zeros({3, 0}), Tokens(3, "q"), {});
  svg_of(zeros({0, 900}), {}, Tokens(900, "k"));
}

TEST_CASE("attention_svg: long tokens are cut between characters") {
  const std::string svg = svg_of(ones({1, 1}), {"注意力注意力注意力"}, {"abcdefghijklmnop"});
  CHECK(occurrences(svg, ">注意力注意力注…</text>") == 1);
  CHECK(occurrences(svg, ">abcdefghijklmnop</text>") == 1);
}

TEST_CASE("attention_svg: pictures of short sentences are narrow enough for 10-pixel letters on 360 pixels") {
  const AttentionMapOptions options{.sentence = "a sentence that is as long as sentences are in newspapers",
                                    .module = "encoder.layers.0.self_attn"};
  for (const int64_t heads : {1, 2, 4, 8})
    for (const int64_t n : {1, 2, 4, 8, 10}) {
      const Tokens tokens(static_cast<size_t>(n), "Beijing");
      CHECK(width_of(svg_of(full({1, heads, n, n}, 0.1), tokens, tokens, options)) <= 432);
    }
}
