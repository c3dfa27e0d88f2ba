#include "examples/guide/diagrams_sequences.h"

#include "examples/guide/diagrams.h"
#include "tests/support/expect.h"

using program::diagram;

TEST_CASE("unrolled_recurrence: one function, five times") {
  CHECK(occurrences(diagram("unrolled_recurrence.svg", "en"), "<rect") == 1 + 4);
}

TEST_CASE("one_context: c leads to each word of the decoder") {
  const std::string svg = diagram("one_context.svg", "zh");
  CHECK(occurrences(svg, "<rect") == 4 + 1 + 3);
  CHECK(occurrences(svg, "marker-end=\"url(#one_context-head-accent)") == 1 + 1 + 3);
  for (const char* word : {">我<", ">爱<", ">中<", ">国<"}) CHECK(occurrences(svg, word) == 1);
}

TEST_CASE("context_for_each_word: a weight for each pair") {
  const std::string svg = diagram("context_for_each_word.svg", "en");
  CHECK(occurrences(svg, "<path d") - occurrences(svg, "marker-end") - occurrences(svg, "<marker id") ==
        3 * 4);
}
