#include "autograd/targets.h"

#include "tests/support/expect.h"

TEST_CASE("grad returns the gradients of the given inputs in order, leaves or not") {
  const Tensor x = leaf(2), w = leaf(5);
  const Tensor h = x * w, y = h * h;
  const auto found = grad({y}, {w, h, x, w}, {.retain_graph = true});
  CHECK(found[0].item() == 2 * 10 * 2);
  CHECK(found[1].item() == 20);
  CHECK(found[2].item() == 2 * 10 * 5);
  CHECK(found[3].item() == 40);
  CHECK_FALSE(w.grad().defined());

  // Gradients that no requested input needs are not computed.
  int calls = 0;
  const auto counted = function(
      "counted", [](const Tensor& v) { return v * 1; },
      [&calls](const Tensor& g, const Tensor&) { return ++calls, g; });
  const Tensor z = counted(x) * w;
  grad({z}, {w}, {.retain_graph = true});
  CHECK(calls == 0);
  grad(z, {x});
  CHECK(calls == 1);
}
