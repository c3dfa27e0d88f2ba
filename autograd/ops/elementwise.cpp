#include "autograd/ops/elementwise.h"

#include <numbers>

#include "autograd/node.h"
#include "autograd/ops/logic.h"
#include "tensor/create.h"
#include "tensor/kernels/map.h"
#include "tensor/kernels/math.h"

namespace heed {
namespace {

using kernel::numbers, kernel::wrapping, kernel::zip;

// An operation is its name, its operand, the formula for one element and the rule, which gives the gradient
// of x from g, the incoming one, and y, the result, or from g alone. The last line of a rule is its formula
// in public operations, which can be differentiated again; a line above it is the same in one pass.
template <class F, class Rule, class Dtypes = kernel::Floating>
Tensor map_result(const char* name, const Operand& x, const F& f, Rule rule, Dtypes dtypes = {}) {
  const OpScope scope(name, x.line());
  if constexpr (std::is_same_v<Dtypes, kernel::Floating>) check_floating(x);
  return record(name, kernel::map(x, f, dtypes), {{x, std::move(rule)}});
}

// The same with a rule of g and x.
template <class F, class Rule, class Dtypes = kernel::Floating>
Tensor map(const char* name, const Operand& x, const F& f, Rule rule, Dtypes dtypes = {}) {
  return map_result(
      name, x, f, [rule, x = save(x)](const Tensor& g) { return rule(g, x()); }, dtypes);
}

// A result that is made again instead of kept, see Note [Values made again]: f and slope(g, x) are of
// elements, the twin of the tensor x in public operations.
template <class F, class Slope, class Same>
Tensor map_recomputed(const char* name, const Operand& x, const F& f, const Slope& slope, const Same& twin) {
  const OpScope scope(name, x.line());
  check_floating(x);
  if (reference_mode()) return twin(x);
  const auto again = [f](const std::vector<Tensor>& in) { return kernel::map(in[0], f); };
  return record(
      name, again({x}), {x},
      [slope, x = save(x)](const Tensor& g, const Tensor&) { return Gradients{zip(g, x(), slope)}; },
      [twin](const std::vector<Tensor>& in) { return twin(in[0]); }, again);
}

// A rule whose formula is that of tensors and of elements: in public operations, or else in one pass.
template <class F>
auto rule_both_forms(const F& f) {
  return [f](const Tensor& g, const Tensor& v) { return grad_enabled() ? f(g, v) : zip(g, v, f); };
}

// The rule of what is flat everywhere but at its jumps.
constexpr auto flat = [](const Tensor& g) { return zeros_like(g); };

constexpr double kInvSqrt2Pi = std::numbers::inv_sqrtpi / std::numbers::sqrt2;

// Phi(x), the probability that a normal variable is below x. Its derivative is phi(x) = exp(-x^2 / 2) /
// sqrt(2 pi).
Tensor normal_cdf(Operand x) {
  const auto f = [](auto v) { return math::normal_cdf(v); };
  return map("normal_cdf", x, f,
             [](const Tensor& g, const Tensor& x_) { return g * kInvSqrt2Pi * exp(-0.5 * square(x_)); });
}

// With s the sigmoid and 2 u = sqrt(8 / pi) (x + 0.044715 x^3):   y = x s(2 u),   dx = g s (1 + x s(-2 u) 2
// u')
Tensor gelu_tanh(const Operand& x) {
  const auto f = [](auto v) { return math::gelu_tanh(v); };
  return map("gelu", x, f, [](const Tensor& g, const Tensor& far) {
    const Tensor x_ = clamp(far, -1000, 1000), squared = square(x_);
    const Tensor u = 4 * kInvSqrt2Pi * x_ * (1 + 0.044715 * squared);
    const Tensor du = 4 * kInvSqrt2Pi * (1 + 3 * 0.044715 * squared);
    const Tensor s = sigmoid(u);
    return g * s * (1 + x_ * sigmoid(-u) * du);
  });
}

// Numbers as bounds.
Tensor clamp_between(const Operand& x, const Operand& min, const Operand& max) {
  Tensor y = Tensor::empty(x->shape(), x->dtype());
  visit_numbers(x->dtype(), [&]<class T>(Type<T>) {
    const T low = min.number().to<T>(), high = max.number().to<T>();
    const auto f = [low, high, has_low = min.is_number(), has_high = max.is_number()](T v) {
      if (has_low && v < low) v = low;
      if (has_high && v > high) v = high;
      return v;
    };
    kernel::apply<T, T>(f, y, x.tensor());
  });
  return record("clamp", y, {{x, [x = save(x), min, max](const Tensor& g) {
                                Tensor inside = x() == x();
                                if (min.is_number()) inside = logical_and(inside, x() >= min);
                                if (max.is_number()) inside = logical_and(inside, x() <= max);
                                return where(inside, g, 0);
                              }}});
}

// The operand that does not lose has the gradient; equals share it.
template <class F>
Tensor extreme_of_two(const char* name, Operand& a, Operand& b, Tensor (*loses)(Operand, Operand),
                      const F& f) {
  const OpScope scope(name, a.line());
  adopt(a, b);
  const auto share = [loses](const Tensor& g, const Tensor& mine, const Tensor& other) {
    return where(mine == other, 0.5 * g, where(loses(mine, other), 0, g));
  };
  return record(name, zip(a, b, f, numbers),
                {{a, [share, a = save(a), b = save(b)](const Tensor& g) { return share(g, a(), b()); }},
                 {b, [share, a = save(a), b = save(b)](const Tensor& g) { return share(g, b(), a()); }}});
}

}  // namespace

// clang-format off
Tensor exp(Operand x) { return map_result("exp", x, [](auto v) { return math::exp(v); }, [](auto& g, auto& y) { return g * y; }); }
Tensor expm1(Operand x) { return map_result("expm1", x, [](auto v) { return math::expm1(v); }, [](auto& g, auto& y) { return g * (y + 1); }); }
Tensor log(Operand x) { return map("log", x, [](auto v) { return math::log(v); }, [](auto& g, auto& x_) { return g / x_; }); }
Tensor log1p(Operand x) { return map("log1p", x, [](auto v) { return math::log1p(v); }, [](auto& g, auto& x_) { return g / (x_ + 1); }); }
Tensor sqrt(Operand x) { return map_result("sqrt", x, [](auto v) { return std::sqrt(v); }, [](auto& g, auto& y) { return g / (2 * y); }); }
Tensor rsqrt(Operand x) { return map_result("rsqrt", x, [](auto v) { return 1 / std::sqrt(v); }, [](auto& g, auto& y) { return -0.5 * g * y * y * y; }); }
Tensor reciprocal(Operand x) { return map_result("reciprocal", x, [](auto v) { return 1 / v; }, [](auto& g, auto& y) { return -g * y * y; }); }
Tensor sin(Operand x) { return map("sin", x, [](auto v) { return std::sin(v); }, [](auto& g, auto& x_) { return g * cos(x_); }); }
Tensor cos(Operand x) { return map("cos", x, [](auto v) { return std::cos(v); }, [](auto& g, auto& x_) { return -g * sin(x_); }); }
Tensor square(Operand x) { return map("square", x, [](auto v) { return v * v; }, [](auto& g, auto& x_) { return 2 * g * x_; }, wrapping); }
Tensor abs(Operand x) { return map("abs", x, [](auto v) { return v > 0 ? v : 0 - v; }, [](auto& g, auto& x_) { return g * sign(x_); }, numbers); }
// clang-format on

Tensor sign(Operand x) {
  const auto f = [](auto v) { return (v > 0) - (v < 0); };
  return map_result("sign", x, f, flat, numbers);
}

Tensor floor(Operand x) {
  const auto f = [](auto v) { return std::is_integral_v<decltype(v)> ? v : decltype(v)(std::floor(v)); };
  return map_result("floor", x, f, flat, numbers);
}

Tensor tanh(Operand x) {
  const auto f = [](auto v) { return math::tanh(v); };
  return map_result("tanh", x, f,
                    rule_both_forms([](const auto& g, const auto& y) { return g * (1 - y * y); }));
}

Tensor sigmoid(Operand x) {
  const auto f = [](auto v) { return math::sigmoid(v); };
  return map_result("sigmoid", x, f,
                    rule_both_forms([](const auto& g, const auto& y) { return g * y * (1 - y); }));
}

// erf'(x) = 2 / sqrt(pi) exp(-x^2)
Tensor erf(Operand x) {
  const auto f = [](auto v) { return math::erf(v); };
  return map("erf", x, f, [](const Tensor& g, const Tensor& x_) {
    return g * (2 * std::numbers::inv_sqrtpi) * exp(-square(x_));
  });
}

// With s the sigmoid:   y = x s(x),   dx = g s (1 + x (1 - s))
Tensor silu(Operand x) {
  const auto slope = [](auto g, auto v) {
    const auto s = math::sigmoid(v);
    return g * s * (1 + math::bounded(v) * (1 - s));
  };
  return map_recomputed(
      "silu", x, [](auto v) { return math::sigmoid(v, math::not_below(v)); }, slope,
      [](const Tensor& x_) { return maximum(x_, -1000) * sigmoid(x_); });
}

Tensor relu(Operand x) {
  const auto f = [](auto v) { return v < 0 ? decltype(v)(0) : v; };
  const auto rule = [](const Tensor& g, const Tensor& y) {
    if (!grad_enabled()) return zip(g, y, [](auto g_, auto v) { return v <= 0 ? decltype(g_)(0) : g_; });
    return where(y <= 0, 0, g);
  };
  return map_result("relu", x, f, rule, numbers);
}

Tensor leaky_relu(Operand x, double negative_slope) {
  const auto f = [=](auto v) { return v > 0 ? v : static_cast<decltype(v)>(negative_slope) * v; };
  return map("leaky_relu", x, f,
             [=](const Tensor& g, const Tensor& x_) { return where(x_ > 0, g, negative_slope * g); });
}

Tensor elu(Operand x, double alpha) {
  const auto f = [=](auto v) { return v > 0 ? v : static_cast<decltype(v)>(alpha) * math::expm1(v); };
  return map("elu", x, f, [=](const Tensor& g, const Tensor& x_) {
    return where(x_ > 0, g, g * alpha * exp(minimum(x_, 0)));
  });
}

Tensor softplus(Operand x, double beta, double threshold) {
  const auto f = [=](auto v) {
    using T = decltype(v);
    const T scaled = T(beta) * v;
    return scaled > T(threshold) ? v : math::log1p(math::exp(scaled)) / T(beta);
  };
  return map("softplus", x, f, [=](const Tensor& g, const Tensor& x_) {
    return where(x_ * beta > threshold, g, g * sigmoid(beta * x_));
  });
}

// y = x Phi(x),   dx = g (Phi(x) + x phi(x))
Tensor gelu(Operand x, Gelu approximate) {
  if (approximate == Gelu::tanh) return gelu_tanh(x);
  return map_recomputed(
      "gelu", x, [](auto v) { return math::not_below(v) * math::normal_cdf(v); },
      [](auto g, auto v) { return g * math::gelu_slope(v); },
      [](const Tensor& x_) { return maximum(x_, -1000) * normal_cdf(x_); });
}

// Inside the bounds and at them x has the gradient; a bound has it where it stands for x. Where the bounds
// cross, the upper one holds.
Tensor clamp(Operand x, Operand min, Operand max) {
  const OpScope scope("clamp", x.line());
  const auto given = [](const Operand& bound) { return bound.is_number() || bound.defined(); };
  check(given(min) || given(max), "x is ", x->shape(), "; give a lower bound, an upper one, or both");
  if (!min.defined() && !max.defined()) return clamp_between(x, min, max);
  Operand y = x;
  if (given(min)) y.become(where(logical_or(y >= min, isnan(y)), y, min));
  if (given(max)) y.become(where(logical_or(y <= max, isnan(y)), y, max));
  return y;
}

// da = g b a^(b-1),  db = g a^b log(a); both zero where the factor in front is, whatever the power says
Tensor pow(Operand a, Operand b) {
  const OpScope scope("pow", a.line());
  adopt(a, b);
  check_floating(a);
  return record("pow", zip(a, b, [](auto u, auto v) { return std::pow(u, v); }),
                {{a, [a = save(a), b = save(b)](
                         const Tensor& g) { return where(b() == 0, 0, g * b() * pow(a(), b() - 1)); }},
                 {b, [a = save(a), b = save(b)](const Tensor& g, const Tensor& y) {
                    const Tensor flat = logical_and(a() == 0, b() >= 0);
                    return where(flat, 0, g * y * log(where(flat, 1, a())));
                  }}});
}

Tensor maximum(Operand a, Operand b) {
  return extreme_of_two("maximum", a, b, lt, [](auto u, auto v) { return u > v || u != u ? u : v; });
}
Tensor minimum(Operand a, Operand b) {
  return extreme_of_two("minimum", a, b, gt, [](auto u, auto v) { return u < v || u != u ? u : v; });
}

}  // namespace heed
