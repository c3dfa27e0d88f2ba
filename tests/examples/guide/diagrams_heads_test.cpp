#include "examples/guide/diagrams_heads.h"

#include "examples/guide/diagrams.h"
#include "tests/support/expect.h"

using program::diagram;

TEST_CASE("multi_head: three heads of a third of the width") {
  const std::string svg = diagram("multi_head.svg", "en");
  const int64_t head =
      2 + 3 * 6 + 6 + 6;  // group and attention; Q, K, V; the output; its place among the joined
  CHECK(occurrences(svg, "<rect") == 3 * 6 + 3 * head + 3 * 6);
}

TEST_CASE("masks: forbidden cells are hatched") {
  const std::string svg = diagram("masks.svg", "en");
  CHECK(occurrences(svg, "url(#masks-hatch)") == 6 * 2 + 15 + 20 + 1);  // and the legend
  CHECK(occurrences(svg, "<rect") == 3 * 36 + 2);
}

TEST_CASE("key_value_cache: five scores in place of 25") {
  const std::string svg = diagram("key_value_cache.svg", "en");
  CHECK(occurrences(svg, "fill=\"var(--accent, #0064a5)\" fill-opacity") == 25 + 5);
  CHECK(occurrences(svg, "url(#key_value_cache-hatch)") == 10 + 1);
}
