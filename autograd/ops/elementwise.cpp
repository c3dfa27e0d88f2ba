#include "autograd/ops/elementwise.h"

#include <numbers>

#include "autograd/node.h"
#include "autograd/ops/basic.h"
#include "tensor/kernels/map.h"
#include "tensor/kernels/math.h"

namespace heed {
namespace {

using kernel::numbers, kernel::wrapping, kernel::zip;

// Applies f to each element of x. The rule gives dx from g and the result y, or from g alone; `text` is the
// rule for display.
template <class F, class Rule, class Dtypes = kernel::Floating>
Tensor map_result(const char* name, const Operand& x, const F& f, Rule rule, const char* text,
                  Dtypes dtypes = {}) {
  const OpScope scope(name, x.line());
  if constexpr (std::is_same_v<Dtypes, kernel::Floating>) check_floating(x);
  return record(name, kernel::map(x, f, dtypes), {{x, text, std::move(rule)}});
}

// The same with a rule of g and x.
template <class F, class Rule, class Dtypes = kernel::Floating>
Tensor map(const char* name, const Operand& x, const F& f, Rule rule, const char* text, Dtypes dtypes = {}) {
  return map_result(
      name, x, f, [rule, x = save(x)](const Tensor& g) { return rule(g, x()); }, text, dtypes);
}

// A rule whose formula works for tensors and for elements. If the gradient is recorded, it runs on tensors
// and can be differentiated again; otherwise in one pass over the elements.
template <class F>
auto rule_both_forms(const F& f) {
  return [f](const Tensor& g, const Tensor& v) { return grad_enabled() ? f(g, v) : zip(g, v, f); };
}

}  // namespace

// clang-format off
Tensor exp(Operand x) { return map_result("exp", x, [](auto v) { return math::exp(v); }, [](auto& g, auto& y) { return g * y; }, "g $y"); }
Tensor expm1(Operand x) { return map_result("expm1", x, [](auto v) { return math::expm1(v); }, [](auto& g, auto& y) { return g * (y + 1); }, "g ($y + 1)"); }
Tensor log(Operand x) { return map("log", x, [](auto v) { return math::log(v); }, [](auto& g, auto& x_) { return g / x_; }, "g / $1"); }
Tensor log1p(Operand x) { return map("log1p", x, [](auto v) { return math::log1p(v); }, [](auto& g, auto& x_) { return g / (x_ + 1); }, "g / ($1 + 1)"); }
Tensor log2(Operand x) { return map("log2", x, [](auto v) { return std::log2(v); }, [](auto& g, auto& x_) { return g / (std::numbers::ln2 * x_); }, "g / ($1 log 2)"); }
Tensor sqrt(Operand x) { return map_result("sqrt", x, [](auto v) { return std::sqrt(v); }, [](auto& g, auto& y) { return g / (2 * y); }, "g / (2 $y)"); }
Tensor rsqrt(Operand x) { return map_result("rsqrt", x, [](auto v) { return 1 / std::sqrt(v); }, [](auto& g, auto& y) { return -0.5 * g * y * y * y; }, "−g $y³ / 2"); }
Tensor reciprocal(Operand x) { return map_result("reciprocal", x, [](auto v) { return 1 / v; }, [](auto& g, auto& y) { return -g * y * y; }, "−g $y²"); }
Tensor sin(Operand x) { return map("sin", x, [](auto v) { return std::sin(v); }, [](auto& g, auto& x_) { return g * cos(x_); }, "g cos($1)"); }
Tensor cos(Operand x) { return map("cos", x, [](auto v) { return std::cos(v); }, [](auto& g, auto& x_) { return -g * sin(x_); }, "−g sin($1)"); }
Tensor square(Operand x) { return map("square", x, [](auto v) { return v * v; }, [](auto& g, auto& x_) { return 2 * g * x_; }, "2 g $1", wrapping); }
Tensor abs(Operand x) { return map("abs", x, [](auto v) { return v > 0 ? v : 0 - v; }, [](auto& g, auto& x_) { return g * sign(x_); }, "g sign($1)", numbers); }
Tensor sign(Operand x) { return map_result("sign", x, [](auto v) { return (v > 0) - (v < 0); }, [](auto& g) { return zeros_like(g); }, "0", numbers); }
Tensor erf(Operand x) { return map("erf", x, [](auto v) { return math::erf(v); }, [](auto& g, auto& x_) { return g * (2 * std::numbers::inv_sqrtpi) * exp(-square(x_)); }, "g 2/√π exp(−$1²)"); }
// clang-format on

Tensor tanh(Operand x) {
  const auto f = [](auto v) { return math::tanh(v); };
  const auto rule = [](const auto& g, const auto& y) { return g * (1 - y * y); };
  return map_result("tanh", x, f, rule_both_forms(rule), "g (1 − $y²)");
}

Tensor sigmoid(Operand x) {
  const auto f = [](auto v) { return math::sigmoid(v); };
  const auto rule = [](const auto& g, const auto& y) { return g * y * (1 - y); };
  return map_result("sigmoid", x, f, rule_both_forms(rule), "g $y (1 − $y)");
}

// da = g b a^(b-1), 0 where b = 0;   db = g a^b log(a), 0 where a = 0 and b >= 0
Tensor pow(Operand a, Operand b) {
  const OpScope scope("pow", a.line());
  match_dtypes(a, b);
  check_floating(a);
  return record("pow", zip(a, b, [](auto u, auto v) { return std::pow(u, v); }),
                {{a, "g $2 $1^($2 − 1)",
                  [a = save(a), b = save(b)](const Tensor& g) {
                    return where(b() == 0, 0, g * b() * pow(a(), b() - 1));
                  }},
                 {b, "g $y log($1)", [a = save(a), b = save(b)](const Tensor& g, const Tensor& y) {
                    const Tensor vanishes = logical_and(a() == 0, b() >= 0);
                    return where(vanishes, 0, g * y * log(where(vanishes, 1, a())));
                  }}});
}

// da = g b / (a^2 + b^2),  db = -g a / (a^2 + b^2);  0 at (0, 0)
Tensor atan2(Operand a, Operand b) {
  const OpScope scope("atan2", a.line());
  match_dtypes(a, b);
  check_floating(a);
  const auto rule = [](const Tensor& g, const Tensor& u, const Tensor& v) {
    const Tensor r = u * u + v * v;
    return g * u / where(r == 0, 1, r);
  };
  return record("atan2", zip(a, b, [](auto u, auto v) { return std::atan2(u, v); }),
                {{a, "g $2 / ($1² + $2²)",
                  [=, a = save(a), b = save(b)](const Tensor& g) { return rule(g, b(), a()); }},
                 {b, "−g $1 / ($1² + $2²)",
                  [=, a = save(a), b = save(b)](const Tensor& g) { return rule(-g, a(), b()); }}});
}

}  // namespace heed
