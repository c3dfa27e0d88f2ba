#include "autograd/ops/elementwise.h"
#include "autograd/ops/activation.h"
#include "autograd/ops/rounding.h"
#include "nn/functional.h"
#include "nn/onnx/operator.h"

namespace heed::onnx {
namespace {

Tensor plus(Operand a, Operand b) { return a + b; }
// f(f(a, b), c) and so on.
template <Tensor (*f)(Operand, Operand)>
Tensor each(const Tensors& xs) {
  Tensor y = xs[0];
  for (size_t i = 1; i < xs.size(); ++i) y = f(y, xs[i]);
  return y;
}

// a / b; that of integers is truncated.
Tensor quotient(X a, X b) {
  if (a.dtype() != int64 || b.dtype() != int64) return a / b;
  const Shape shape = broadcast_shapes(a.shape(), b.shape());
  Ints x = int_list(expand(a, shape));
  const Ints y = int_list(expand(b, shape));
  for (size_t i = 0; i < x.size(); ++i) {
    check(y[i] != 0 && (x[i] != INT64_MIN || y[i] != -1), "integers: ", x[i], " / ", y[i]);
    x[i] /= y[i];
  }
  return from_vector(x, shape);
}
// The remainder with the sign of a if it is truncated, else with that of b.
Tensor remainder(X a, X b, bool truncated) {
  const Tensor rest = fmod(a, b);
  return truncated ? rest : where(logical_and(ne(rest, 0), ne(rest < 0, b < 0)), rest + b, rest);
}
Tensor power(X a, X b) {
  return is_floating(a.dtype()) ? pow(a, to(b, a.dtype()))
                                : to(pow(to(a, float64), to(b, float64)), a.dtype());
}
// An int32 is held as int64, so a value that it cannot hold throws.
Tensor cast(X x, int64_t type) {
  Tensor y = to(x, check_type(type, "the result"));
  const bool is_int32 = type == static_cast<int64_t>(ElementType::int32);
  check(!is_int32 || all(y == clamp(y, INT32_MIN, INT32_MAX)).item<bool>(), "a value does not fit an int32");
  return y;
}
Tensor clip(X x, X least, X most) {
  const Tensor y = least.defined() ? maximum(x, least) : x;
  return most.defined() ? minimum(y, most) : y;
}
Tensors dropout(X x, std::optional<double> ratio, bool training) {
  const Tensor factors = F::dropout(ones_like(x), ratio.value_or(0.5), training);
  return {training ? x * factors : x, ne(factors, 0)};
}

}  // namespace

// clang-format off
std::vector<Operator> elementwise_operators() {
  return {
      {"Add", 7, "A B", plus}, {"Sub", 7, "A B", [](X a, X b) { return a - b; }}, {"Mul", 7, "A B", mul},
      {"Div", 7, "A B", quotient}, {"Mod", 10, "A B fmod=0", remainder}, {"Pow", 12, "X Y", power},
      {"Min", 8, "X...", each<minimum>}, {"Max", 8, "X...", each<maximum>}, {"Sum", 8, "X...", each<plus>},
      {"Mean", 8, "X...", [](const Tensors& xs) { return each<plus>(xs) / xs.size(); }},
      {"Clip", 11, "X min? max?", clip}, {"Neg", 6, "X", neg}, {"Abs", 6, "X", abs}, {"Sign", 9, "X", sign},
      {"Floor", 6, "X", floor}, {"Ceil", 6, "X", ceil}, {"Round", 11, "X", [](X x) { return round(x); }},
      {"Sqrt", 6, "X", sqrt}, {"Reciprocal", 6, "X", reciprocal}, {"Exp", 6, "X", exp}, {"Log", 6, "X", log},
      {"Erf", 9, "X", erf}, {"Sin", 7, "X", sin}, {"Cos", 7, "X", cos}, {"Tanh", 6, "X", tanh},
      {"Tan", 7, "X", [](X x) { return sin(x) / cos(x); }},
      {"Asin", 7, "X", [](X x) { return atan2(x, sqrt(1 - square(x))); }},
      {"Acos", 7, "X", [](X x) { return atan2(sqrt(1 - square(x)), x); }},
      {"Atan", 7, "X", [](X x) { return atan2(x, ones_like(x)); }},
      {"Sinh", 9, "X", [](X x) { return (expm1(x) - expm1(-x)) / 2; }},
      {"Cosh", 9, "X", [](X x) { return (exp(x) + exp(-x)) / 2; }},

      {"Sigmoid", 6, "X", sigmoid}, {"Relu", 6, "X", relu}, {"LeakyRelu", 6, "X alpha=0.01", leaky_relu},
      {"Elu", 6, "X alpha=1.0", elu}, {"Gelu", 20, "X approximate=none|tanh", gelu},
      {"HardSigmoid", 6, "X alpha=0.2 beta=0.5", [](X x, double a, double b) { return clamp(x * a + b, 0, 1); }},
      {"HardSwish", 14, "X", [](X x) { return x * clamp(x / 6 + 0.5, 0, 1); }},
      {"Swish", 24, "X alpha=1.0", [](X x, double alpha) { return x * sigmoid(x * alpha); }},
      {"Mish", 18, "X", [](X x) { return x * tanh(softplus(x, 1, 40)); }},
      {"PRelu", 7, "X slope", [](X x, X slope) { return where(x < 0, slope * x, x); }},
      {"Celu", 12, "X alpha=1.0", [](X x, double alpha) { return elu(x / alpha) * alpha; }},
      {"Selu", 6, "X alpha=1.6732632 gamma=1.050701",
       [](X x, double alpha, double gamma) { return elu(x, alpha) * gamma; }},
      {"Softplus", 1, "X", [](X x) { return softplus(x, 1, 40); }},
      {"Softsign", 1, "X", [](X x) { return x / (1 + abs(x)); }},
      {"Dropout", 12, "X ratio? training_mode? seed?=int", dropout, 2},

      {"Equal", 7, "A B", eq}, {"Greater", 7, "A B", gt}, {"GreaterOrEqual", 12, "A B", ge},
      {"Less", 7, "A B", lt}, {"LessOrEqual", 12, "A B", le}, {"And", 7, "A B", logical_and},
      {"Or", 7, "A B", logical_or}, {"Xor", 7, "A B", ne}, {"Not", 1, "X", logical_not},
      {"IsNaN", 9, "X", isnan}, {"IsInf", 10, "X detect_negative=1=1 detect_positive=1=1", isinf},
      {"Where", 9, "condition X Y", where}, {"Identity", 1, "X", [](X x) { return x; }},
      {"Cast", 9, "X to=int saturate=1 round_mode=up|down|nearest", cast},
      {"CastLike", 15, "X target_type saturate=1 round_mode=up|down|nearest",
       [](X x, X like) { return to(x, like.dtype()); }},
  };
}
// clang-format on

}  // namespace heed::onnx
