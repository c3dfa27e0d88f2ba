#include "autograd/ops/rounding.h"

#include "autograd/node.h"
#include "autograd/ops/basic.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/map.h"

namespace heed {
namespace {

// f for each element of x. Integers are not changed.
Tensor rounded(const char* name, const Operand& x, const auto& f, Attributes attributes = {}) {
  const OpScope scope(name, x.line());
  return record(name, x->dtype() == int64 ? kernel::clone(x) : kernel::map(x, f, kernel::numbers),
                {{x, "0", [](const Tensor& g) { return zeros_like(g); }}}, attributes);
}

}  // namespace

Tensor floor(Operand x) {
  return rounded("floor", x, [](auto v) { return std::floor(v); });
}
Tensor ceil(Operand x) {
  return rounded("ceil", x, [](auto v) { return std::ceil(v); });
}

// Divides by 10^-decimals or multiplies by 10^decimals, whichever is a whole number.
Tensor round(Operand x, int64_t decimals) {
  const double power = std::pow(10, std::abs(static_cast<double>(decimals)));
  const auto f = [power, decimals]<class T>(T v) {
    const T scale = static_cast<T>(power);
    return decimals < 0 ? std::nearbyint(v / scale) * scale : std::nearbyint(v * scale) / scale;
  };
  return rounded("round", x, f, {{"decimals", decimals}});
}

Tensor div(Operand a, Operand b, Rounding rounding) {
  if (rounding == Rounding::none) return a / b;
  const OpScope scope("div", a.line());
  match_dtypes(a, b);
  check_floating(a);
  const auto f = [down = rounding == Rounding::floor](auto u, auto v) {
    return down ? std::floor(u / v) : std::trunc(u / v);
  };
  return record("div", kernel::zip(a, b, f),
                {{a, "0", [](const Tensor& g) { return zeros_like(g); }},
                 {b, "0", [](const Tensor& g) { return zeros_like(g); }}},
                {{"rounding", rounding == Rounding::floor ? "floor" : "trunc"}});
}

// da = g,  db = -g trunc(a / b)
Tensor fmod(Operand a, Operand b) {
  const OpScope scope("fmod", a.line());
  match_dtypes(a, b);
  check(a->dtype() != int64 || all(b).item<bool>(), "b is int64 ", b->shape(),
        " and has a 0, by which integers have no remainder");
  const auto f = []<class T>(T u, T v) {
    if constexpr (std::is_integral_v<T>)
      return v == -1 ? 0 : u % v;
    else
      return std::fmod(u, v);
  };
  return record("fmod", kernel::zip(a, b, f, kernel::numbers),
                {{a, "g", [](const Tensor& g) { return g; }},
                 {b, "−g trunc($1 / $2)", [a = save(a), b = save(b)](const Tensor& g) {
                    return -g * div(a(), b(), Rounding::trunc);
                  }}});
}

}  // namespace heed
