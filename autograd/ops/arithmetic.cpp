#include "autograd/ops/arithmetic.h"

#include <cmath>

#include "autograd/node.h"
#include "tensor/create.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/map.h"

namespace heed {

Tensor add(Operand a, Operand b, Number alpha) {
  const Calling here("add", a.line());
  adopt(a, b);
  const auto by = alpha.to<double>();
  return record(
      "add", by == 1 ? kernel::add(a, b) : kernel::add(a, b, alpha),
      {{a, [](const Tensor& g) { return g; }}, {b, [by](const Tensor& g) { return by == 1 ? g : by * g; }}});
}

Tensor sub(Operand a, Operand b, Number alpha) {
  const Calling here("sub", a.line());
  adopt(a, b);
  const kernel::Factor factor(alpha, a->dtype());
  const auto scaled = [factor](auto u, auto v) { return u - factor.as<decltype(u)>() * v; };
  const bool plain = factor.as<double>() == 1;
  return record("sub", plain ? kernel::sub(a, b) : kernel::zip(a, b, scaled, kernel::wrapping),
                {{a, [](const Tensor& g) { return g; }},
                 {b, [by = -alpha.to<double>()](const Tensor& g) { return by * g; }}});
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
  const auto flat = [] { return [](const Tensor& g) { return zeros_like(g); }; };
  const auto rounded = [&](const auto& f) {
    return record("div", kernel::zip(a, b, f), {{a, flat()}, {b, flat()}});
  };
  if (rounding == Rounding::floor) return rounded([](auto u, auto v) { return std::floor(u / v); });
  if (rounding == Rounding::trunc) return rounded([](auto u, auto v) { return std::trunc(u / v); });
  return record("div", kernel::zip(a, b, [](auto u, auto v) { return u / v; }),
                {{a, [b = save(b)](const Tensor& g) { return g / b(); }},
                 {b, [a = save(a), b = save(b)](const Tensor& g) { return -g * a() / b() / b(); }}});
}

Tensor neg(Operand x) {
  const Calling here("neg", x.line());
  const auto f = [](auto v) { return -v; };
  return record("neg", kernel::map(x, f, kernel::wrapping), {{x, [](const Tensor& g) { return -g; }}});
}

}  // namespace heed
