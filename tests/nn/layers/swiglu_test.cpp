#include "nn/layers/swiglu.h"

#include "nn/debug/check_module.h"
#include "tests/support/expect.h"

TEST_CASE("SwiGLU: a gate times a linear map, names") {
  const SwiGLU layer(3, 5);
  const Tensor x = randn({2, 3}), gate = linear(x, layer.w1.weight);
  const Tensor want = linear(silu(gate) * linear(x, layer.w3.weight), layer.w2.weight);
  CHECK(largest_difference(layer(x), want) < 1e-6);
  CHECK(test::names(layer.named_parameters()) == Texts{"w1.weight", "w2.weight", "w3.weight"});
  CHECK(SwiGLU(3, 5, {.bias = true}).parameters().size() == 6);
  const ModuleReport report = check_module([] { return SwiGLU(2, 3); }, {randn({3, 2})});
  CHECK_MESSAGE(report.ok(), to_string(report));
}
