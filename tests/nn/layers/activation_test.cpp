#include "nn/layers/activation.h"

#include "autograd/ops/activation.h"
#include "nn/debug/check_module.h"
#include "tests/support/expect.h"

using namespace heed;

template <class L>
static void check_values(const L& layer, Tensor (*function)(const Tensor&)) {
  const Tensor x = tensor({-1, 0, 2}, float64);
  CHECK(values(layer(x)) == values(function(x)));
  CHECK(layer.parameters().empty());
}

TEST_CASE("activation layers compute their functions") {
  using T = const Tensor&;
  check_values(Identity(), [](T x) { return x; });
  check_values(ReLU(), [](T x) { return relu(x); });
  check_values(LeakyReLU(), [](T x) { return leaky_relu(x, 0.01); });
  check_values(LeakyReLU(0.2), [](T x) { return where(x > 0, x, 0.2 * x); });
  check_values(ELU(2), [](T x) { return where(x > 0, x, 2 * expm1(x)); });
  check_values(GELU(), [](T x) { return gelu(x); });
  check_values(GELU(Gelu::tanh), [](T x) { return gelu(x, Gelu::tanh); });
  check_values(SiLU(), [](T x) { return silu(x); });
  check_values(Tanh(), [](T x) { return tanh(x); });
  check_values(Sigmoid(), [](T x) { return sigmoid(x); });
  check_values(Softplus(), [](T x) { return softplus(x, 1, 20); });
  check_values(Softplus(2, 3), [](T x) { return softplus(x, 2, 3); });
  check_values(Softmax(), [](T x) { return softmax(x, -1); });
  check_values(LogSoftmax(0), [](T x) { return log_softmax(x, 0); });
}

TEST_CASE("Flatten joins all dimensions but the first, or those given") {
  CHECK(Flatten()(ones({2, 3, 4})).shape() == Shape{2, 12});
  CHECK(Flatten(0)(ones({2, 3, 4})).shape() == Shape{24});
  CHECK(Flatten(0, 1)(ones({2, 3, 4})).shape() == Shape{6, 4});
}

TEST_CASE("activation layers pass check_module") {
  Generator random(5);
  const Tensor x = randn({3, 2, 2}, float32, &random);
  const auto check = [&](const auto& layer) {
    const ModuleReport report = check_module(layer, {x});
    CHECK_MESSAGE(report.ok(), to_string(report));
  };
  check(Identity());
  check(ReLU());
  check(LeakyReLU());
  check(ELU());
  check(GELU());
  check(GELU(Gelu::tanh));
  check(SiLU());
  check(Tanh());
  check(Sigmoid());
  check(Softplus());
  check(Softmax());
  check(LogSoftmax());
  check(Flatten());
}
