#include "nn/layers/activation.h"

#include "tests/support/expect.h"

template <class L>
static void check_values(const L& layer, Tensor (*function)(const Tensor&)) {
  const Tensor x = tensor({-1, 0, 2}, float64);
  CHECK(values(layer(x)) == values(function(x)));
  CHECK(layer.parameters().empty());
}

// Also checks the layer with check_module.
template <class L>
static void check_layer(const L& layer, Tensor (*function)(const Tensor&)) {
  Generator random(5);
  check_values(layer, function);
  const ModuleReport report = check_module(layer, {randn({3, 2, 2}, float32, &random)});
  CHECK_MESSAGE(report.ok(), to_string(report));
}

TEST_CASE("activation layers compute their functions and pass check_module") {
  using T = const Tensor&;
  check_layer(Identity(), [](T x) { return x; });
  check_layer(ReLU(), [](T x) { return relu(x); });
  check_layer(LeakyReLU(), [](T x) { return leaky_relu(x, 0.01); });
  check_layer(LeakyReLU(0.2), [](T x) { return where(x > 0, x, 0.2 * x); });
  check_layer(ELU(2), [](T x) { return where(x > 0, x, 2 * expm1(x)); });
  check_layer(GELU(), [](T x) { return gelu(x); });
  check_layer(GELU(Gelu::tanh), [](T x) { return gelu(x, Gelu::tanh); });
  check_layer(SiLU(), [](T x) { return silu(x); });
  check_layer(Tanh(), [](T x) { return tanh(x); });
  check_layer(Sigmoid(), [](T x) { return sigmoid(x); });
  check_layer(Softplus(), [](T x) { return softplus(x, 1, 20); });
  check_layer(Softplus(2, 3), [](T x) { return softplus(x, 2, 3); });
  check_layer(Softmax(), [](T x) { return softmax(x, -1); });
  check_layer(LogSoftmax(), [](T x) { return log_softmax(x, -1); });
  check_values(LogSoftmax(0), [](T x) { return log_softmax(x, 0); });
}

TEST_CASE("Flatten joins all dimensions but the first, or those given") {
  CHECK(Flatten()(ones({2, 3, 4})).shape() == Shape{2, 12});
  CHECK(Flatten(0)(ones({2, 3, 4})).shape() == Shape{24});
  CHECK(Flatten(0, 1)(ones({2, 3, 4})).shape() == Shape{6, 4});
  CHECK(check_module(Flatten(), {randn({3, 2, 2})}).ok());
}
