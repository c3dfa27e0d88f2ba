#include "autograd/ops/elementwise.h"
#include "autograd/ops/activation.h"
#include "autograd/ops/rounding.h"
#include "nn/functional.h"
#include "nn/onnx/operator.h"

namespace heed::onnx {
namespace {

using C = const Call&;

// An operation of heed that is the operator; with many operands f(f(a, b), c) and so on.
Compute each(Tensor (*f)(Operand)) {
  return [f](C c) { return f(c[0]); };
}
Compute each(Tensor (*f)(Operand, Operand)) {
  return [f](C c) {
    Tensor y = c[0];
    for (size_t i = 1; i < c.inputs.size(); ++i) y = f(y, c[i]);
    return y;
  };
}
Tensor plus(Operand a, Operand b) { return a + b; }

// a / b; that of integers is truncated.
Tensor quotient(const Tensor& a, const Tensor& b) {
  if (a.dtype() != int64 || b.dtype() != int64) return a / b;
  const Shape shape = broadcast_shapes(a.shape(), b.shape());
  std::vector<int64_t> x = expand(a, shape).to_vector<int64_t>();
  const std::vector<int64_t> y = expand(b, shape).to_vector<int64_t>();
  for (size_t i = 0; i < x.size(); ++i) {
    check(y[i] != 0 && (x[i] != INT64_MIN || y[i] != -1), "integers: ", x[i], " / ", y[i]);
    x[i] /= y[i];
  }
  return from_vector(x, shape);
}
// The remainder with the sign of a for `truncated`, else with that of b.
Tensor remainder(const Tensor& a, const Tensor& b, bool truncated) {
  const Tensor rest = fmod(a, b);
  return truncated ? rest : where(logical_and(ne(rest, 0), ne(rest < 0, b < 0)), rest + b, rest);
}
Tensor power(const Tensor& a, const Tensor& b) {
  return is_floating(a.dtype()) ? pow(a, to(b, a.dtype()))
                                : to(pow(to(a, float64), to(b, float64)), a.dtype());
}

// An int32 is held as int64, so a value that it cannot hold throws.
Tensor cast(const Tensor& x, int64_t type) {
  Tensor y = to(x, check_type(type, "the result"));
  check(static_cast<ElementType>(type) != ElementType::int32 ||
            all(logical_and(y >= INT32_MIN, y <= INT32_MAX)).item<bool>(),
        "a value does not fit an int32");
  return y;
}
Values dropout(C c) {
  const bool training = c[2].defined() && c[2].item() != 0;
  const Tensor factors = F::dropout(ones_like(c[0]), c[1].defined() ? c[1].item() : 0.5, training);
  return {training ? c[0] * factors : c[0], ne(factors, 0)};
}
Tensor clip(C c) {
  const Tensor y = c[1].defined() ? maximum(c[0], c[1]) : c[0];
  return c[2].defined() ? minimum(y, c[2]) : y;
}

}  // namespace

// clang-format off
std::vector<Operator> elementwise_operators() {
  return {
      {"Add", 7, "A B", "", each(plus)}, {"Sub", 7, "A B", "", [](C c) { return c[0] - c[1]; }},
      {"Mul", 7, "A B", "", each(mul)}, {"Div", 7, "A B", "", [](C c) { return quotient(c[0], c[1]); }},
      {"Mod", 10, "A B", "fmod=0", [](C c) { return remainder(c[0], c[1], c.i("fmod") != 0); }},
      {"Pow", 12, "X Y", "", [](C c) { return power(c[0], c[1]); }},
      {"Neg", 6, "X", "", [](C c) { return -c[0]; }}, {"Abs", 6, "X", "", each(abs)},
      {"Sign", 9, "X", "", each(sign)}, {"Floor", 6, "X", "", each(floor)}, {"Ceil", 6, "X", "", each(ceil)},
      {"Round", 11, "X", "", [](C c) { return round(c[0]); }}, {"Sqrt", 6, "X", "", each(sqrt)},
      {"Reciprocal", 6, "X", "", each(reciprocal)}, {"Exp", 6, "X", "", each(exp)},
      {"Log", 6, "X", "", each(log)}, {"Erf", 9, "X", "", each(erf)}, {"Sin", 7, "X", "", each(sin)},
      {"Cos", 7, "X", "", each(cos)}, {"Tan", 7, "X", "", [](C c) { return sin(c[0]) / cos(c[0]); }},
      {"Asin", 7, "X", "", [](C c) { return atan2(c[0], sqrt(1 - square(c[0]))); }},
      {"Acos", 7, "X", "", [](C c) { return atan2(sqrt(1 - square(c[0])), c[0]); }},
      {"Atan", 7, "X", "", [](C c) { return atan2(c[0], ones_like(c[0])); }},
      {"Sinh", 9, "X", "", [](C c) { return (expm1(c[0]) - expm1(-c[0])) / 2; }},
      {"Cosh", 9, "X", "", [](C c) { return (exp(c[0]) + exp(-c[0])) / 2; }}, {"Tanh", 6, "X", "", each(tanh)},
      {"Clip", 11, "X min? max?", "", clip}, {"Min", 8, "X...", "", each(minimum)},
      {"Max", 8, "X...", "", each(maximum)}, {"Sum", 8, "X...", "", each(plus)},
      {"Mean", 8, "X...", "", [](C c) { return each(plus)(c)[0] / c.inputs.size(); }},

      {"Sigmoid", 6, "X", "", each(sigmoid)},
      {"HardSigmoid", 6, "X", "alpha=0.2 beta=0.5", [](C c) { return clamp(c[0] * c.f("alpha") + c.f("beta"), 0, 1); }},
      {"HardSwish", 14, "X", "", [](C c) { return c[0] * clamp(c[0] / 6 + 0.5, 0, 1); }},
      {"Swish", 24, "X", "alpha=1.0", [](C c) { return c[0] * sigmoid(c[0] * c.f("alpha")); }},
      {"Mish", 18, "X", "", [](C c) { return c[0] * tanh(softplus(c[0], 1, 40)); }},
      {"Relu", 6, "X", "", each(relu)},
      {"LeakyRelu", 6, "X", "alpha=0.01", [](C c) { return leaky_relu(c[0], c.f("alpha")); }},
      {"PRelu", 7, "X slope", "", [](C c) { return where(c[0] < 0, c[1] * c[0], c[0]); }},
      {"Elu", 6, "X", "alpha=1.0", [](C c) { return elu(c[0], c.f("alpha")); }},
      {"Celu", 12, "X", "alpha=1.0", [](C c) { return elu(c[0] / c.f("alpha")) * c.f("alpha"); }},
      {"Selu", 6, "X", "alpha=1.6732632 gamma=1.050701", [](C c) { return elu(c[0], c.f("alpha")) * c.f("gamma"); }},
      {"Gelu", 20, "X", "approximate=none|tanh",
       [](C c) { return gelu(c[0], c.s("approximate") == "tanh" ? Gelu::tanh : Gelu::none); }},
      {"Softplus", 1, "X", "", [](C c) { return softplus(c[0], 1, 40); }},
      {"Softsign", 1, "X", "", [](C c) { return c[0] / (1 + abs(c[0])); }},
      {"Dropout", 12, "X ratio? training_mode?", "seed=int?", dropout, 2},

      {"Equal", 7, "A B", "", each(eq)}, {"Greater", 7, "A B", "", each(gt)},
      {"GreaterOrEqual", 12, "A B", "", each(ge)}, {"Less", 7, "A B", "", each(lt)},
      {"LessOrEqual", 12, "A B", "", each(le)}, {"And", 7, "A B", "", each(logical_and)},
      {"Or", 7, "A B", "", each(logical_or)}, {"Xor", 7, "A B", "", each(ne)},
      {"Not", 1, "X", "", each(logical_not)}, {"IsNaN", 9, "X", "", each(isnan)},
      {"IsInf", 10, "X", "detect_negative=1=1 detect_positive=1=1", each(isinf)},
      {"Where", 9, "condition X Y", "", [](C c) { return where(c[0], c[1], c[2]); }},
      {"Identity", 1, "X", "", [](C c) { return c[0]; }},
      {"Cast", 9, "X", "to=int saturate=1 round_mode=up|down|nearest", [](C c) { return cast(c[0], c.i("to")); }},
      {"CastLike", 15, "X target_type", "saturate=1 round_mode=up|down|nearest", [](C c) { return to(c[0], c[1].dtype()); }},
  };
}
// clang-format on

}  // namespace heed::onnx
