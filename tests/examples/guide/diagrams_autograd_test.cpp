#include "examples/guide/diagrams_autograd.h"

#include "examples/guide/diagrams.h"
#include "tests/support/expect.h"

TEST_CASE("computation_graph: the gradients of C-100-08") {
  const std::string svg = program::diagram("computation_graph.svg", "en");
  for (const char* number : {">162<", ">= 216<", ">= 18 + 18 = 36<", ">= 9<", ">= 1<"})
    CHECK(occurrences(svg, number) == 1);
  CHECK(occurrences(svg, "marker-end=\"url(#computation_graph-head-accent)") == 4 + 1);  // and the legend
}
