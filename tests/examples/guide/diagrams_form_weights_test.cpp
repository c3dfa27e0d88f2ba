#include "examples/guide/diagrams_form_weights.h"

#include "examples/guide/diagrams.h"
#include "tests/support/expect.h"

using program::diagram;

TEST_CASE("bounded_scores: softmax gives everything away, sigmoids need not") {
  const std::string svg = diagram("bounded_scores.svg", "en");
  for (const char* sum : {">sum 1.43<", ">sum 0.02<"}) CHECK(occurrences(svg, sum) == 1);
  CHECK(occurrences(svg, ">sum 1.00<") == 2);
}

TEST_CASE("sparse_weights: four, three and two keys, and a sum below 1 with a sink") {
  const std::string svg = diagram("sparse_weights.svg", "en");
  CHECK(occurrences(svg, ">0.00<") == 1 + 2);
  CHECK(occurrences(svg, ">sum 1.00<") == 3);
  CHECK(occurrences(svg, ">sum 0.86<") == 1);
}

TEST_CASE("copy_mixture: 0.4 of one and 0.6 of the other") {
  const std::string svg = diagram("copy_mixture.svg", "en");
  for (const char* share : {">0.28<", ">0.26<", ">0.46<"}) CHECK(occurrences(svg, share) == 1);
}

TEST_CASE("differences: one weight is left, and two mixtures of three heads have all three") {
  const std::string svg = diagram("differences.svg", "en");
  CHECK(occurrences(svg, ">0.35<") == 1);
  CHECK(occurrences(svg, "<rect") == 3 * 4 + 2 * 3 * 9);
  CHECK(occurrences(svg, "fill-opacity=\"0.65\"") == 8);
}
