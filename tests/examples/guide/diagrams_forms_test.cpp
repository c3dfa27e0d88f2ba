#include "examples/guide/diagrams_forms.h"

#include "examples/guide/diagrams.h"
#include "tests/support/expect.h"

using program::diagram;

TEST_CASE("shared_heads: four queries in each panel, and fewer heads of keys") {
  const std::string svg = diagram("shared_heads.svg", "en");
  const int64_t keys = 4 + 2 + 1 + 4;
  CHECK(occurrences(svg, "<rect") == 4 * 4 + keys + 1 + 2);  // a latent, and the legend
  CHECK(occurrences(svg, "stroke-dasharray") == 4 + 4 + 1);  // keys that are not kept, and their lines
}

TEST_CASE("position_bias: four slopes, and eight buckets of which four are single distances") {
  const std::string svg = diagram("position_bias.svg", "en");
  CHECK(occurrences(svg, "=1/") == 4);
  CHECK(occurrences(svg, "<rect") == 8);
  CHECK(occurrences(svg, "width=\"12\" height=\"24\"") == 4);
}

TEST_CASE("longer_rotary: five positions and an arrow in each of three columns") {
  const std::string svg = diagram("longer_rotary.svg", "en");
  CHECK(occurrences(svg, "<rect") == 3 * 5);
  CHECK(occurrences(svg, "marker-end") == 3);
}

TEST_CASE("sparse_masks: what is not allowed is hatched") {
  const std::string svg = diagram("sparse_masks.svg", "en");
  const int64_t window = 1 + 2 + 6 * 3 + 5, blocks = 2 * 10, dilated = 2 * (1 + 2 + 3 + 4);
  CHECK(occurrences(svg, "url(#sparse_masks-hatch)") == 3 * 64 - window - blocks - dilated + 1);
}

TEST_CASE("monotonic: keys behind the last choice are hatched") {
  CHECK(occurrences(diagram("monotonic.svg", "en"), "url(#monotonic-hatch)") == 0 + 2 + 2 + 4 + 1);
}

TEST_CASE("state_rules: 12, a faded sum, and what was written last") {
  const std::string svg = diagram("state_rules.svg", "en");
  CHECK(occurrences(svg, ">12</text>") == 2);  // in the state and read
  CHECK(occurrences(svg, ">8.25</text>") == 2);
  CHECK(occurrences(svg, ">7</text>") == 4);
}

TEST_CASE("hopfield: four states in each panel, and where they settle") {
  const std::string svg = diagram("hopfield.svg", "en");
  CHECK(occurrences(svg, "marker-end") == 2 * 4);
}
