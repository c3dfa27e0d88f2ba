#include "examples/guide/diagrams_pooling.h"

#include "examples/guide/diagrams.h"
#include "tests/support/expect.h"

TEST_CASE("query_key_value: the numbers of the example") {
  const std::string svg = program::diagram("query_key_value.svg", "en");
  for (const char* number : {">0.67<", ">0.24<", ">0.09<", ">14.2<"}) CHECK(occurrences(svg, number) == 1);
}

TEST_CASE("cues: three inputs twice") {
  const std::string svg = program::diagram("cues.svg", "zh");
  for (const char* word : {">自主性提示<", ">非自主性提示<", ">感官输入<"})
    CHECK(occurrences(svg, word) == 1);
  CHECK(occurrences(svg, "<rect") == 2 * (1 + 3 + 3 + 1));
}

TEST_CASE("kernel_weights: the weights sum to 1") {
  const std::string svg = program::diagram("kernel_weights.svg", "en");
  int64_t points = 0;
  double sum = 0;
  for (size_t at = svg.find(">0."); at != std::string::npos; at = svg.find(">0.", at + 1), ++points)
    sum += std::stod(svg.substr(at + 1));
  CHECK(points == 10);
  CHECK(std::abs(sum - 1) < 0.03);
}
