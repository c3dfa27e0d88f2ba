#include "autograd/ops/arithmetic.h"

#include "autograd/node.h"
#include "tensor/create.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/map.h"

namespace heed {

Tensor operator+(Operand a, Operand b) {
  const OpScope scope("add", a.line());
  adopt(a, b);
  return record("add", kernel::add(a, b),
                {{a, [](const Tensor& g) { return g; }}, {b, [](const Tensor& g) { return g; }}});
}

Tensor operator-(Operand a, Operand b) {
  const OpScope scope("sub", a.line());
  adopt(a, b);
  return record("sub", kernel::sub(a, b),
                {{a, [](const Tensor& g) { return g; }}, {b, [](const Tensor& g) { return -g; }}});
}

// da = g b,  db = g a
Tensor operator*(Operand a, Operand b) {
  const OpScope scope("mul", a.line());
  adopt(a, b);
  return record("mul", kernel::mul(a, b),
                {{a, [b = save(b)](const Tensor& g) { return g * b(); }},
                 {b, [a = save(a)](const Tensor& g) { return g * a(); }}});
}

// da = g / b,  db = -g a / b^2
Tensor operator/(Operand a, Operand b) {
  const OpScope scope("div", a.line());
  adopt(a, b);
  check_floating(a);
  return record("div", kernel::zip(a, b, [](auto u, auto v) { return u / v; }),
                {{a, [b = save(b)](const Tensor& g) { return g / b(); }},
                 {b, [a = save(a), b = save(b)](const Tensor& g) { return -g * a() / b() / b(); }}});
}

Tensor operator-(Operand x) {
  const OpScope scope("neg", x.line());
  const auto f = [](auto v) { return -v; };
  return record("neg", kernel::map(x, f, kernel::wrapping), {{x, [](const Tensor& g) { return -g; }}});
}

Tensor add(Operand a, Operand b, Scalar alpha) {
  if (alpha.to<double>() == 1) return a + b;
  const OpScope scope("add", a.line());
  adopt(a, b);
  return record("add", kernel::add(a, b, alpha),
                {{a, [](const Tensor& g) { return g; }},
                 {b, [by = alpha.to<double>()](const Tensor& g) { return by * g; }}});
}

Tensor sub(Operand a, Operand b, Scalar alpha) {
  if (alpha.to<double>() == 1) return a - b;
  const OpScope scope("sub", a.line());
  adopt(a, b);
  const auto scaled = [by = kernel::Factor(alpha, a->dtype())](auto u, auto v) {
    return u - by.as<decltype(u)>() * v;
  };
  return record("sub", kernel::zip(a, b, scaled, kernel::wrapping),
                {{a, [](const Tensor& g) { return g; }},
                 {b, [by = -alpha.to<double>()](const Tensor& g) { return by * g; }}});
}

// A rounded quotient is flat.
Tensor div(Operand a, Operand b, Rounding rounding) {
  if (rounding == Rounding::none) return a / b;
  const OpScope scope("div", a.line());
  adopt(a, b);
  check_floating(a);
  const auto f = [down = rounding == Rounding::floor](auto u, auto v) {
    return down ? std::floor(u / v) : std::trunc(u / v);
  };
  const auto flat = [] { return [](const Tensor& g) { return zeros_like(g); }; };
  return record("div", kernel::zip(a, b, f), {{a, flat()}, {b, flat()}});
}

}  // namespace heed
