#include "tensor/kernels/elementwise.h"

#include <cmath>
#include <numbers>

#include "autograd/node.h"
#include "autograd/ops.h"

namespace heed {
namespace {

// y = f(x) on floating numbers. The rule is given g, the incoming gradient, and x, or g and y.
template <class Rule>
Tensor by_operand(const char* name, Tensor (*f)(const Tensor&), const Operand& x, Rule rule) {
  const Calling here(name, x.line());
  check_floating(x);
  return record(name, f(x), {{x, [rule, x = save(x)](const Tensor& g) { return rule(g, x()); }}});
}
template <class Rule>
Tensor by_result(const char* name, Tensor (*f)(const Tensor&), const Operand& x, Rule rule) {
  const Calling here(name, x.line());
  check_floating(x);
  return record(name, f(x), {{x, std::move(rule)}});
}

}  // namespace

// The last line of a rule is its formula in public operations, which can be differentiated again; a line
// above it is the same in one pass.

// clang-format off
Tensor exp(Operand x) { return by_result("exp", kernel::exp, x, [](auto& g, auto& y) { return g * y; }); }
Tensor expm1(Operand x) { return by_result("expm1", kernel::expm1, x, [](auto& g, auto& y) { return g * (y + 1); }); }
Tensor log(Operand x) { return by_operand("log", kernel::log, x, [](auto& g, auto& x_) { return g / x_; }); }
Tensor log1p(Operand x) { return by_operand("log1p", kernel::log1p, x, [](auto& g, auto& x_) { return g / (x_ + 1); }); }
Tensor sqrt(Operand x) { return by_result("sqrt", kernel::sqrt, x, [](auto& g, auto& y) { return g / (2 * y); }); }
Tensor rsqrt(Operand x) { return by_result("rsqrt", kernel::rsqrt, x, [](auto& g, auto& y) { return -0.5 * g * y * y * y; }); }
Tensor reciprocal(Operand x) { return by_result("reciprocal", kernel::reciprocal, x, [](auto& g, auto& y) { return -g * y * y; }); }
Tensor sin(Operand x) { return by_operand("sin", kernel::sin, x, [](auto& g, auto& x_) { return g * cos(x_); }); }
Tensor cos(Operand x) { return by_operand("cos", kernel::cos, x, [](auto& g, auto& x_) { return -g * sin(x_); }); }
// clang-format on

Tensor tanh(Operand x) {
  return by_result("tanh", kernel::tanh, x, [](const Tensor& g, const Tensor& y) {
    if (!grad_enabled()) return kernel::tanh_backward(g, y);
    return g * (1 - y * y);
  });
}

Tensor sigmoid(Operand x) {
  return by_result("sigmoid", kernel::sigmoid, x, [](const Tensor& g, const Tensor& y) {
    if (!grad_enabled()) return kernel::sigmoid_backward(g, y);
    return g * y * (1 - y);
  });
}

// erf'(x) = 2 / sqrt(pi) exp(-x^2)
Tensor erf(Operand x) {
  return by_operand("erf", kernel::erf, x, [](const Tensor& g, const Tensor& x_) {
    return g * (2 * std::numbers::inv_sqrtpi) * exp(-square(x_));
  });
}

Tensor silu(Operand x) {
  return by_operand("silu", kernel::silu, x, [](const Tensor& g, const Tensor& x_) {
    if (!grad_enabled()) return kernel::silu_backward(g, x_);
    const Tensor s = sigmoid(x_);
    return g * s * (1 + x_ * (1 - s));
  });
}

// Numbers of any dtype.

Tensor abs(Operand x) {
  const Calling here("abs", x.line());
  return record("abs", kernel::abs(x), {{x, [x = save(x)](const Tensor& g) { return g * sign(x()); }}});
}

Tensor square(Operand x) {
  const Calling here("square", x.line());
  return record("square", kernel::square(x), {{x, [x = save(x)](const Tensor& g) { return g * (2 * x()); }}});
}

Tensor neg(Operand x) {
  const Calling here("neg", x.line());
  return record("neg", kernel::neg(x), {{x, [](const Tensor& g) { return -g; }}});
}

// Flat everywhere but at the jumps: the gradient is zero.
Tensor sign(Operand x) {
  const Calling here("sign", x.line());
  return record("sign", kernel::sign(x), {{x, [](const Tensor& g) { return zeros_like(g); }}});
}

Tensor floor(Operand x) {
  const Calling here("floor", x.line());
  return record("floor", kernel::floor(x), {{x, [](const Tensor& g) { return zeros_like(g); }}});
}

Tensor relu(Operand x) {
  const Calling here("relu", x.line());
  return record("relu", kernel::relu(x), {{x, [](const Tensor& g, const Tensor& y) {
                                             if (!grad_enabled()) return kernel::relu_backward(g, y);
                                             return where(y <= 0, 0, g);
                                           }}});
}

Tensor leaky_relu(Operand x, double negative_slope) {
  const Calling here("leaky_relu", x.line());
  check_floating(x);
  return record("leaky_relu", kernel::leaky_relu(x, negative_slope),
                {{x, [x = save(x), negative_slope](const Tensor& g) {
                    return where(x() > 0, g, negative_slope * g);
                  }}});
}

Tensor elu(Operand x, double alpha) {
  const Calling here("elu", x.line());
  check_floating(x);
  return record("elu", kernel::elu(x, alpha), {{x, [x = save(x), alpha](const Tensor& g) {
                                                  return where(x() > 0, g, g * alpha * exp(minimum(x(), 0)));
                                                }}});
}

Tensor softplus(Operand x, double beta, double threshold) {
  const Calling here("softplus", x.line());
  check_floating(x);
  return record("softplus", kernel::softplus(x, beta, threshold),
                {{x, [x = save(x), beta, threshold](const Tensor& g) {
                    return where(x() * beta > threshold, g, g * sigmoid(beta * x()));
                  }}});
}

// Inside the bounds and at them x has the gradient; a bound has it where it stands for x. Where the bounds
// cross, the upper one holds.
Tensor clamp(Operand x, Operand min, Operand max) {
  const Calling here("clamp", x.line());
  const auto given = [](const Operand& bound) { return bound.is_number() || bound.defined(); };
  check(given(min) || given(max), "give a lower bound, an upper one, or both");
  if (min.defined() || max.defined()) {
    Operand y = x;
    if (given(min)) y.become(where(logical_or(y >= min, isnan(y)), y, min));
    if (given(max)) y.become(where(logical_or(y <= max, isnan(y)), y, max));
    return y;
  }
  const auto number = [&](const Operand& bound) {
    if (Operand like = x, same = bound; given(bound) && !is_floating(x->dtype())) adopt(like, same);
    return given(bound) ? std::optional(bound.number().to<double>()) : std::nullopt;
  };
  return record("clamp", kernel::clamp(x, number(min), number(max)),
                {{x, [x = save(x), low = number(min), high = number(max)](const Tensor& g) {
                    Tensor inside = x() == x();
                    if (low) inside = logical_and(inside, x() >= *low);
                    if (high) inside = logical_and(inside, x() <= *high);
                    return where(inside, g, 0);
                  }}});
}

// Phi(x) = (1 + erf(x / sqrt 2)) / 2, phi its derivative; d(x Phi(x)) = Phi(x) + x phi(x).
// The approximation: x (1 + tanh u) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3).
Tensor gelu(Operand x, Gelu approximate) {
  using namespace std::numbers;
  if (approximate == Gelu::tanh)
    return by_operand("gelu", kernel::gelu_tanh, x, [](const Tensor& g, const Tensor& x_) {
      const Tensor squared = square(x_);
      const Tensor u = tanh(sqrt2 * inv_sqrtpi * x_ * (1 + 0.044715 * squared));
      const Tensor du = sqrt2 * inv_sqrtpi * (1 + 3 * 0.044715 * squared);
      return g * (0.5 * (1 + u) + 0.5 * x_ * (1 - square(u)) * du);
    });
  return by_operand("gelu", kernel::gelu, x, [](const Tensor& g, const Tensor& x_) {
    if (!grad_enabled()) return kernel::gelu_backward(g, x_);
    const Tensor below = 0.5 * (1 + erf(x_ / sqrt2));
    return g * (below + x_ * (inv_sqrtpi / sqrt2) * exp(-0.5 * square(x_)));
  });
}

Tensor add(Operand a, Operand b, double alpha) {
  const Calling here("add", a.line());
  adopt(a, b);
  return record("add", kernel::add(a, b, alpha),
                {{a, [](const Tensor& g) { return g; }},
                 {b, [alpha](const Tensor& g) { return alpha == 1 ? g : alpha * g; }}});
}

Tensor sub(Operand a, Operand b, double alpha) {
  const Calling here("sub", a.line());
  adopt(a, b);
  return record(
      "sub", kernel::sub(a, b, alpha),
      {{a, [](const Tensor& g) { return g; }}, {b, [alpha](const Tensor& g) { return -alpha * g; }}});
}

// da = g b,  db = g a
Tensor mul(Operand a, Operand b) {
  const Calling here("mul", a.line());
  adopt(a, b);
  return record("mul", kernel::mul(a, b),
                {{a, [b = save(b)](const Tensor& g) { return g * b(); }},
                 {b, [a = save(a)](const Tensor& g) { return g * a(); }}});
}

// da = g / b,  db = -g a / b^2; a rounded quotient is flat
Tensor div(Operand a, Operand b, Rounding rounding) {
  const Calling here("div", a.line());
  adopt(a, b);
  check_floating(a);
  const Tensor quotient = kernel::div(a, b);
  if (rounding != Rounding::none)
    return record("div", rounding == Rounding::floor ? kernel::floor(quotient) : kernel::trunc(quotient),
                  {{a, [](const Tensor& g) { return zeros_like(g); }},
                   {b, [](const Tensor& g) { return zeros_like(g); }}});
  return record("div", quotient,
                {{a, [b = save(b)](const Tensor& g) { return g / b(); }},
                 {b, [a = save(a), b = save(b)](const Tensor& g) { return -g * a() / b() / b(); }}});
}

// da = g b a^(b-1),  db = g a^b log(a); both zero where the factor in front is, whatever the power says
Tensor pow(Operand a, Operand b) {
  const Calling here("pow", a.line());
  adopt(a, b);
  check_floating(a);
  return record("pow", kernel::pow(a, b),
                {{a, [a = save(a), b = save(b)](
                         const Tensor& g) { return where(b() == 0, 0, g * b() * pow(a(), b() - 1)); }},
                 {b, [a = save(a), b = save(b)](const Tensor& g, const Tensor& y) {
                    const Tensor flat = logical_and(a() == 0, b() >= 0);
                    return where(flat, 0, g * y * log(where(flat, 1, a())));
                  }}});
}

namespace {

// The operand that does not lose has the gradient; equals share it.
Tensor better(const char* name, Tensor (*f)(const Tensor&, const Tensor&), Tensor (*loses)(Operand, Operand),
              Operand a, Operand b) {
  const Calling here(name, a.line());
  adopt(a, b);
  const auto share = [loses](const Tensor& g, const Tensor& mine, const Tensor& other) {
    return where(mine == other, 0.5 * g, where(loses(mine, other), 0, g));
  };
  return record(name, f(a, b),
                {{a, [share, a = save(a), b = save(b)](const Tensor& g) { return share(g, a(), b()); }},
                 {b, [share, a = save(a), b = save(b)](const Tensor& g) { return share(g, b(), a()); }}});
}

}  // namespace

Tensor maximum(Operand a, Operand b) { return better("maximum", kernel::maximum, lt, a, b); }
Tensor minimum(Operand a, Operand b) { return better("minimum", kernel::minimum, gt, a, b); }

Tensor where(Operand condition, Operand a, Operand b) {
  const Calling here("where", condition.line());
  check(condition->dtype() == boolean, "the condition is ", condition->dtype(), " ", condition->shape(),
        "; it must be bool, such as x > 0");
  adopt(a, b);
  return record("where", kernel::where(condition, a, b),
                {{a, [c = save(condition)](const Tensor& g) { return where(c(), g, 0); }},
                 {b, [c = save(condition)](const Tensor& g) { return where(c(), 0, g); }}});
}

Tensor masked_fill(Operand x, Operand mask, Operand value) {
  const Calling here("masked_fill", x.line());
  check(!value.defined() || value->dim() == 0, "the value has shape ",
        value.defined() ? value->shape() : Shape{}, "; it must be one number");
  broadcast_shapes(x->shape(), mask->shape(), "x", "mask");
  return where(mask, value, x);
}

Tensor eq(Operand a, Operand b) {
  const Calling here("eq", a.line());
  return adopt(a, b), kernel::eq(a, b);
}
Tensor ne(Operand a, Operand b) {
  const Calling here("ne", a.line());
  return adopt(a, b), kernel::ne(a, b);
}
Tensor lt(Operand a, Operand b) {
  const Calling here("lt", a.line());
  return adopt(a, b), kernel::lt(a, b);
}
Tensor le(Operand a, Operand b) {
  const Calling here("le", a.line());
  return adopt(a, b), kernel::le(a, b);
}
Tensor gt(Operand a, Operand b) {
  const Calling here("gt", a.line());
  return adopt(a, b), kernel::lt(b, a);
}
Tensor ge(Operand a, Operand b) {
  const Calling here("ge", a.line());
  return adopt(a, b), kernel::le(b, a);
}
Tensor logical_and(Operand a, Operand b) {
  const Calling here("logical_and", a.line());
  return kernel::logical_and(a, b);
}
Tensor logical_or(Operand a, Operand b) {
  const Calling here("logical_or", a.line());
  return kernel::logical_or(a, b);
}
Tensor logical_not(Operand x) {
  const Calling here("logical_not", x.line());
  return kernel::logical_not(x);
}
Tensor isnan(Operand x) {
  const Calling here("isnan", x.line());
  return kernel::isnan(x);
}
Tensor isfinite(Operand x) {
  const Calling here("isfinite", x.line());
  return kernel::isfinite(x);
}

}  // namespace heed
