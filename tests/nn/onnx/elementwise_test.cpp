#include "autograd/ops/elementwise.h"
#include "autograd/ops/activation.h"
#include "tests/nn/onnx/one_node.h"

namespace {

// Checks op(inputs) for numbers of float32.
void check_elements(const std::string& op, const std::vector<Tensor>& inputs, const Tensor& expected,
                    const std::vector<onnx::Attribute>& attributes = {}) {
  CAPTURE(op);
  const Tensor y = run_node(op, inputs, attributes)[0];
  REQUIRE(y.shape() == expected.shape());
  CHECK(y.dtype() == expected.dtype());
  CHECK(allclose(to(y, float64), to(expected, float64), 1e-6, 1e-6, true));
}

}  // namespace

TEST_CASE("onnx: arithmetic and functions of elements") {
  const Tensor a = tensor({-7, 7, 0.5}), b = tensor({2, -2, 2}), unit = tensor({-0.5, 0, 0.8});
  check_elements("Sub", {a, b}, tensor({-9, 9, -1.5}));
  check_elements("Div", {a, b}, tensor({-3.5, -3.5, 0.25}));
  check_elements("Mod", {a, b}, tensor({-1, 1, 0.5}), {attribute("fmod", int64_t{1})});
  check_elements("Mod", {a, b}, tensor({1, -1, 0.5}));
  check_elements("Pow", {b, tensor({3, 2, -1}, int64)}, tensor({8, 4, 0.5}));
  check_elements("Max", {a, b, zeros({1})}, tensor({2, 7, 2}));
  check_elements("Min", {a}, a);
  check_elements("Sum", {a, b, b}, tensor({-3, 3, 4.5}));
  check_elements("Mean", {a, b}, tensor({-2.5, 2.5, 1.25}));
  check_elements("Clip", {a, Tensor(), tensor(1)}, tensor({-7, 1, 0.5}));
  check_elements("Clip", {a, tensor(-1), tensor(1)}, tensor({-1, 1, 0.5}));
  check_elements("Asin", {unit}, tensor({-0.5235988, 0, 0.9272952}));
  check_elements("Acos", {unit}, tensor({2.0943951, 1.5707963, 0.6435011}));
  check_elements("Atan", {a}, tensor({-1.4288993, 1.4288993, 0.4636476}));
  check_elements("Tan", {unit}, tensor({-0.5463025, 0, 1.0296386}));
  check_elements("Sinh", {unit}, tensor({-0.5210953, 0, 0.8881060}));
  check_elements("Cosh", {unit}, tensor({1.1276260, 1, 1.3374349}));
  check_elements("Round", {tensor({0.5, 1.5, -2.5})}, tensor({0, 2, -2}));
}

TEST_CASE("onnx: integers are divided towards zero, and their remainders have either sign") {
  const Tensor a = tensor({-7, 7, 7}, int64), b = tensor({2, -2, 2}, int64);
  check_elements("Div", {a, b}, tensor({-3, -3, 3}, int64));
  check_elements("Mod", {a, b}, tensor({1, -1, 1}, int64));
  check_elements("Mod", {a, b}, tensor({-1, 1, 1}, int64), {attribute("fmod", int64_t{1})});
  check_elements("Pow", {a, tensor(2, int64)}, tensor({49, 49, 49}, int64));
  check_elements("Div", {from_vector<int64_t>({INT64_MAX}, {1}), tensor({3}, int64)},
                 from_vector<int64_t>({INT64_MAX / 3}, {1}));
  CHECK(contains(message([&] {
                   run_node("Div", {a, zeros({1}, int64)});
                 }),
                 "node \"n\" (Div): integers: -7 / 0"));
  CHECK_THROWS_AS(run_node("Div", {from_vector<int64_t>({INT64_MIN}, {1}), tensor({-1}, int64)}), Error);
}

TEST_CASE("onnx: activations") {
  const Tensor x = tensor({-3, -0.5, 0, 2, 30});
  const auto alpha = [](float value) { return std::vector{attribute("alpha", value)}; };
  check_elements("HardSigmoid", {x}, tensor({0, 0.4, 0.5, 0.9, 1}));
  check_elements("HardSwish", {x}, tensor({0, -0.2083333, 0, 1.6666667, 30}));
  check_elements("Swish", {x}, x * sigmoid(2 * x), alpha(2));
  check_elements("Mish", {x}, tensor({-0.1456472, -0.2207438, 0, 1.9439590, 30}));
  check_elements("Softplus", {x}, tensor({0.0485874, 0.4740770, 0.6931472, 2.1269280, 30}));
  check_elements("Softsign", {x}, tensor({-0.75, -0.3333333, 0, 0.6666667, 0.9677419}));
  check_elements("PRelu", {x, tensor({0.5})}, leaky_relu(x, 0.5));
  check_elements("LeakyRelu", {x}, leaky_relu(x, 0.01));
  check_elements("Elu", {x}, elu(x, 2), alpha(2));
  check_elements("Celu", {x}, tensor({-1.5537397, -0.4423984, 0, 2, 30}), alpha(2));
  check_elements("Selu", {x}, tensor({-1.6705687, -0.6917580, 0, 2.1014020, 31.5210295}));
  check_elements("Gelu", {x}, gelu(x));
  check_elements("Gelu", {x}, gelu(x, Gelu::tanh), {attribute("approximate", "tanh")});
}

TEST_CASE("onnx: comparisons, choices and conversions") {
  const Tensor x = tensor({1, 2, 3}), yes = tensor({1, 0, 1}, boolean), no = tensor({0, 0, 1}, boolean);
  check_elements("Greater", {x, tensor(1.5)}, tensor({0, 1, 1}, boolean));
  check_elements("LessOrEqual", {x, tensor(2)}, tensor({1, 1, 0}, boolean));
  check_elements("Xor", {yes, no}, tensor({1, 0, 0}, boolean));
  check_elements("Not", {yes}, tensor({0, 1, 0}, boolean));
  check_elements("IsInf", {tensor({kInf, -kInf, kNaN})}, tensor({1, 1, 0}, boolean));
  check_elements("Where", {yes, x, -x}, tensor({1, -2, 3}));
  check_elements("Cast", {tensor({1.7, -1.7})}, tensor({1, -1}, int64), {attribute("to", int64_t{6})});
  check_elements("Cast", {x}, to(x, float64), {attribute("to", int64_t{11})});
  check_elements("CastLike", {x, yes}, tensor({1, 1, 1}, boolean));
  CHECK(contains(message([&] { run_node("Cast", {tensor({3e9})}, {attribute("to", int64_t{6})}); }),
                 "a value does not fit an int32"));
}

TEST_CASE("onnx: Dropout is the identity unless its third input says that it trains") {
  const Tensor x = ones({1000});
  check_elements("Dropout", {x, tensor(0.5)}, x);
  const auto trained = run_node("Dropout", {x, tensor(0.25), tensor(1, boolean)}, {}, 2);
  CHECK(largest_difference(trained[0], to(trained[1], float32) / 0.75) < 1e-6);
  CHECK(std::abs(mean(trained[0]).item() - 1) < 0.1);
  CHECK(!all(trained[1]).item<bool>());
}

TEST_CASE("onnx: gradients flow through operators") {
  const Tensor x = tensor({-0.5, 0.8}).requires_grad_();
  sum(run_node("Mish", {x})[0]).backward();
  const Tensor y = x.detach().requires_grad_();
  sum(y * tanh(softplus(y))).backward();
  CHECK(largest_difference(x.grad(), y.grad()) < 1e-6);
}
