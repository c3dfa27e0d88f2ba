#include "examples/guide/diagrams_transformer.h"

#include "examples/guide/diagrams.h"
#include "tests/support/expect.h"

using program::diagram;

TEST_CASE("position_added: two sentences of three words") {
  const std::string svg = diagram("position_added.svg", "en");
  for (const char* word : {">dog<", ">bites<", ">man<"}) CHECK(occurrences(svg, word) == 2);
  CHECK(occurrences(svg, "<rect") == 2 * 3 * 3 * 4);
}

TEST_CASE("rotary: three pairs, and twice the same distance") {
  const std::string svg = diagram("rotary.svg", "en");
  CHECK(occurrences(svg, "<rect") == 3 + 2);
  CHECK(occurrences(svg, "marker-end") == 3 * 2 + 2 * 2);
}

TEST_CASE("layer_norm: the numbers of a word are standardized") {
  const std::string svg = diagram("layer_norm.svg", "en");
  for (const char* number : {">−1.39<", ">1.85<", ">0.00<"}) CHECK(occurrences(svg, number) == 1);
  CHECK(occurrences(svg, "fill-opacity=\"0.45\"") == 6 + 5);
  CHECK(occurrences(svg, ">features<") == 2);
  CHECK(occurrences(diagram("layer_norm.svg", "zh"), ">特征<") == 2);
}

TEST_CASE("transformer_block: both have two of each part") {
  const std::string svg = diagram("transformer_block.svg", "en");
  CHECK(occurrences(svg, ">norm</text>") == 2 * 2);
  CHECK(occurrences(svg, ">+</text>") == 2 * 2);
  CHECK(occurrences(svg, ">feed-forward</text>") == 2);
}

// y of the places where the shortcuts start, and what is drawn there: between the first norm (227 to 253) and
// the feed-forward network (179 to 205) after norm(x + f(x)), between the first sum (229 to 251) and the
// second norm (179 to 205) after x + f(norm(x)).
TEST_CASE("transformer_block: the second shortcut starts where the first sublayer ends") {
  const std::string svg = diagram("transformer_block.svg", "en");
  CHECK(occurrences(svg, "stroke-width=\"2\"") == 2 * 2);
  for (const char* start : {"M74 366L140 366L", "M74 216L140 216L", "M260 366L326 366L", "M260 218L326 218L"})
    CHECK_MESSAGE(occurrences(svg, start) == 1, start);
}

TEST_CASE("transformer_stack: three attentions") {
  CHECK(occurrences(diagram("transformer_stack.svg", "en"), "attention</text>") == 3);
}
