#include "autograd/ops/logic.h"

#include "autograd/node.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/map.h"

namespace heed {
namespace {

template <class F>
Tensor compare(const char* name, Operand& a, Operand& b, const F& f) {
  const OpScope scope(name, a.line());
  adopt(a, b);
  return kernel::compare(a, b, f);
}

template <class F>
Tensor test(const char* name, const Operand& x, const F& f) {
  const OpScope scope(name, x.line());
  return kernel::test(x, f);
}

}  // namespace

// clang-format off
Tensor eq(Operand a, Operand b) { return compare("eq", a, b, [](auto u, auto v) { return u == v; }); }
Tensor ne(Operand a, Operand b) { return compare("ne", a, b, [](auto u, auto v) { return u != v; }); }
Tensor lt(Operand a, Operand b) { return compare("lt", a, b, [](auto u, auto v) { return u < v; }); }
Tensor le(Operand a, Operand b) { return compare("le", a, b, [](auto u, auto v) { return u <= v; }); }
Tensor gt(Operand a, Operand b) { return compare("gt", a, b, [](auto u, auto v) { return u > v; }); }
Tensor ge(Operand a, Operand b) { return compare("ge", a, b, [](auto u, auto v) { return u >= v; }); }
Tensor logical_and(Operand a, Operand b) { return compare("logical_and", a, b, [](auto u, auto v) { return u && v; }); }
Tensor logical_or(Operand a, Operand b) { return compare("logical_or", a, b, [](auto u, auto v) { return u || v; }); }
Tensor logical_not(Operand x) { return test("logical_not", x, [](auto v) { return !v; }); }
Tensor isnan(Operand x) { return test("isnan", x, [](auto v) { return v != v; }); }
Tensor isfinite(Operand x) { return test("isfinite", x, [](auto v) { return v - v == 0; }); }
// clang-format on

Tensor where(Operand condition, Operand a, Operand b) {
  const OpScope scope("where", condition.line());
  check(condition->dtype() == boolean, "the condition is ", condition->dtype(), " ", condition->shape(),
        "; it must be bool, such as x > 0");
  adopt(a, b);
  return record("where", kernel::where(condition, a, b),
                {{a, [c = save(condition)](const Tensor& g) { return where(c(), g, 0); }},
                 {b, [c = save(condition)](const Tensor& g) { return where(c(), 0, g); }}});
}

Tensor masked_fill(Operand x, Operand mask, Operand value) {
  const OpScope scope("masked_fill", x.line());
  check(!value.defined() || value->dim() == 0, "the value has shape ",
        value.defined() ? value->shape() : Shape{}, "; it must be one number");
  broadcast_shapes(x->shape(), mask->shape(), "x", "mask");
  return where(mask, value, x);
}

}  // namespace heed
