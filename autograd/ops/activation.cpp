#include "autograd/ops/activation.h"

#include <numbers>

#include "autograd/node.h"
#include "autograd/ops/basic.h"
#include "tensor/kernels/map.h"
#include "tensor/kernels/math.h"

namespace heed {
namespace {

using kernel::zip;

constexpr double kInvSqrt2Pi = std::numbers::inv_sqrtpi / std::numbers::sqrt2;

// f of each element, with a rule of g and x in public operations.
Tensor unary(const char* name, const Operand& x, const auto& f, const auto& rule, const char* text,
             Attributes attributes = {}) {
  const OpScope scope(name, x.line());
  check_floating(x);
  return record(name, kernel::map(x, f),
                {{x, text, [rule, x = save(x)](const Tensor& g) { return rule(g, x()); }}}, attributes);
}

// The same with a result that is recomputed instead of saved, see Note [Recomputed values]. f and slope(g, x)
// are formulas of elements; `reference` computes f in public operations.
Tensor map_recomputed(const char* name, const Operand& x, const auto& f, const auto& slope,
                      const auto& reference, const char* text) {
  const OpScope scope(name, x.line());
  check_floating(x);
  if (reference_mode()) return reference(x);
  const auto recompute = [f](const std::vector<Tensor>& in) { return kernel::map(in[0], f); };
  return record(
      name, recompute({x}), {x},
      [slope, x = save(x)](const Tensor& g, const Tensor&) { return Gradients{zip(g, x(), slope)}; },
      [reference](const std::vector<Tensor>& in) { return reference(in[0]); }, recompute, {}, {text});
}

// Phi(x), the probability that a normal variable is below x.   dx = g phi(x), phi(x) = exp(-x^2/2) / sqrt(2
// pi)
Tensor normal_cdf(Operand x) {
  return unary(
      "normal_cdf", x, [](auto v) { return math::normal_cdf(v); },
      [](const Tensor& g, const Tensor& x_) { return g * kInvSqrt2Pi * exp(-0.5 * square(x_)); }, "g φ($1)");
}

// With s the sigmoid and u = sqrt(8 / pi) (x + 0.044715 x^3):   y = x s(u),   dx = g s(u) (1 + x s(-u) u')
Tensor gelu_tanh(const Operand& x) {
  const auto rule = [](const Tensor& g, const Tensor& any) {
    const Tensor x_ = clamp(any, -1000, 1000), squared = square(x_);  // no overflow in u
    const Tensor u = 4 * kInvSqrt2Pi * x_ * (1 + 0.044715 * squared);
    const Tensor du = 4 * kInvSqrt2Pi * (1 + 3 * 0.044715 * squared);
    return g * sigmoid(u) * (1 + x_ * sigmoid(-u) * du);
  };
  return unary("gelu", x, [](auto v) { return math::gelu_tanh(v); }, rule,
               "u = √(8/π) ($1 + 0.044715 $1³), s = sigmoid(u): g s (1 + $1 (1 − s) u')",
               {{"approximate", "tanh"}});
}

}  // namespace

Tensor relu(Operand x) {
  const OpScope scope("relu", x.line());
  const auto f = [](auto v) { return v < 0 ? decltype(v)(0) : v; };
  auto rule = [](const Tensor& g, const Tensor& y) {
    if (!grad_enabled()) return zip(g, y, [](auto g_, auto v) { return v <= 0 ? decltype(g_)(0) : g_; });
    return where(y <= 0, 0, g);
  };
  return record("relu", kernel::map(x, f, kernel::numbers),
                {{x, "g where $y > 0, 0 elsewhere", std::move(rule)}});
}

Tensor leaky_relu(Operand x, double negative_slope) {
  return unary(
      "leaky_relu", x, [=](auto v) { return v > 0 ? v : static_cast<decltype(v)>(negative_slope) * v; },
      [=](const Tensor& g, const Tensor& x_) { return where(x_ > 0, g, negative_slope * g); },
      "g where $1 > 0, slope g elsewhere", {{"negative_slope", negative_slope}});
}

Tensor elu(Operand x, double alpha) {
  return unary(
      "elu", x, [=](auto v) { return v > 0 ? v : static_cast<decltype(v)>(alpha) * math::expm1(v); },
      [=](const Tensor& g, const Tensor& x_) { return where(x_ > 0, g, g * alpha * exp(minimum(x_, 0))); },
      "g where $1 > 0, g alpha exp($1) elsewhere", {{"alpha", alpha}});
}

Tensor softplus(Operand x, double beta, double threshold) {
  const auto f = [=]<class T>(T v) {
    const T scaled = T(beta) * v;
    return scaled > T(threshold) ? v : math::log1p(math::exp(scaled)) / T(beta);
  };
  const auto rule = [=](const Tensor& g, const Tensor& x_) {
    return where(x_ * beta > threshold, g, g * sigmoid(beta * x_));
  };
  return unary("softplus", x, f, rule, "g sigmoid(beta $1)", {{"beta", beta}, {"threshold", threshold}});
}

// With s the sigmoid:   y = x s(x),   dx = g s (1 + x (1 - s))
Tensor silu(Operand x) {
  const auto slope = [](auto g, auto v) {
    const auto s = math::sigmoid(v);
    return g * s * (1 + math::bounded(v) * (1 - s));
  };
  return map_recomputed(
      "silu", x, [](auto v) { return math::sigmoid(v, math::not_below(v)); }, slope,
      [](const Tensor& x_) { return maximum(x_, -1000) * sigmoid(x_); },
      "s = sigmoid($1): g s (1 + $1 (1 − s))");
}

// y = x Phi(x),   dx = g (Phi(x) + x phi(x))
Tensor gelu(Operand x, Gelu approximate) {
  if (approximate == Gelu::tanh) return gelu_tanh(x);
  return map_recomputed(
      "gelu", x, [](auto v) { return math::not_below(v) * math::normal_cdf(v); },
      [](auto g, auto v) { return g * math::gelu_slope(v); },
      [](const Tensor& x_) { return maximum(x_, -1000) * normal_cdf(x_); }, "g (Φ($1) + $1 φ($1))");
}

}  // namespace heed
