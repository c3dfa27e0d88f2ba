#include "examples/guide/diagrams_attention.h"

#include "examples/guide/diagrams.h"
#include "tensor/table.h"
#include "tests/support/expect.h"

using program::diagram;

TEST_CASE("self_attention: matrices with a square for each number") {
  const std::string svg = diagram("self_attention.svg", "en");
  CHECK(occurrences(svg, "<rect") == 5 * 4 * 3 + 2 * 4 * 4);
}

TEST_CASE("softmax_saturation: even, then one-hot") {
  const std::string svg = diagram("softmax_saturation.svg", "en");
  CHECK(occurrences(svg, ">0.34<") == 1);
  CHECK(occurrences(svg, ">0.98<") == 1);
}

TEST_CASE("four_to_four: 16 weights, or 10 under the causal mask") {
  CHECK(occurrences(diagram("four_to_four.svg", "en"), "<path") == 16 + 10);
}

TEST_CASE("planted_relation: four points three times, and a line for each") {
  const std::string svg = diagram("planted_relation.svg", "en");
  CHECK(occurrences(svg, ">4</text>") == 3);
  CHECK(occurrences(svg, "stroke=\"var(--accent") == 4);
}

TEST_CASE("online_softmax: ends in softmax over all keys") {
  const Values weights = program::drawing::softmax_of({1, 3, 2, 5, 4, 0});
  double output = 0;
  for (size_t i = 0; i < weights.size(); ++i) output += weights[i] * 10 * static_cast<double>(i + 1);
  CHECK(occurrences(diagram("online_softmax.svg", "en"), heed::decimals(output, 1)) == 1);
}
