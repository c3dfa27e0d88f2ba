#include "autograd/ops/arithmetic.h"

#include "autograd/node.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/map.h"

namespace heed {

// da = g,  db = g
Tensor operator+(Operand a, Operand b) {
  const OpScope scope("add", a.line());
  match_dtypes(a, b);
  return record("add", kernel::add(a, b),
                {{a, "g", [](const Tensor& g) { return g; }}, {b, "g", [](const Tensor& g) { return g; }}});
}

// da = g,  db = -g
Tensor operator-(Operand a, Operand b) {
  const OpScope scope("sub", a.line());
  match_dtypes(a, b);
  return record("sub", kernel::sub(a, b),
                {{a, "g", [](const Tensor& g) { return g; }}, {b, "−g", [](const Tensor& g) { return -g; }}});
}

// da = g b,  db = g a
Tensor operator*(Operand a, Operand b) {
  const OpScope scope("mul", a.line());
  match_dtypes(a, b);
  return record("mul", kernel::mul(a, b),
                {{a, "g $2", [b = save(b)](const Tensor& g) { return g * b(); }},
                 {b, "g $1", [a = save(a)](const Tensor& g) { return g * a(); }}});
}

// da = g / b,  db = -g a / b^2
Tensor operator/(Operand a, Operand b) {
  const OpScope scope("div", a.line());
  match_dtypes(a, b);
  check_floating(a);
  return record(
      "div", kernel::zip(a, b, [](auto u, auto v) { return u / v; }),
      {{a, "g / $2", [b = save(b)](const Tensor& g) { return g / b(); }},
       {b, "−g $1 / $2²", [a = save(a), b = save(b)](const Tensor& g) { return -g * a() / b() / b(); }}});
}

Tensor operator-(Operand x) {
  const OpScope scope("neg", x.line());
  const auto f = [](auto v) { return -v; };
  return record("neg", kernel::map(x, f, kernel::wrapping), {{x, "−g", [](const Tensor& g) { return -g; }}});
}

// a + alpha b, or a - alpha b.   da = g,  db = +-alpha g
template <int sign>
static Tensor add_scaled(const char* name, Operand& a, Operand& b, Scalar alpha) {
  if (alpha.to<double>() == 1) return sign > 0 ? a + b : a - b;
  const OpScope scope(name, a.line());
  match_dtypes(a, b);
  return record(name, kernel::zip(a, b, kernel::plus_multiple<sign>(alpha, a->dtype()), kernel::wrapping),
                {{a, "g", [](const Tensor& g) { return g; }},
                 {b, sign > 0 ? "alpha g" : "−alpha g",
                  [by = sign * alpha.to<double>()](const Tensor& g) { return by * g; }}},
                {{"alpha", alpha.to<double>()}});
}

Tensor add(Operand a, Operand b, Scalar alpha) { return add_scaled<1>("add", a, b, alpha); }
Tensor sub(Operand a, Operand b, Scalar alpha) { return add_scaled<-1>("sub", a, b, alpha); }

}  // namespace heed
