#include "autograd/ops/logic.h"

#include "autograd/node.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/map.h"
#include "tensor/kernels/reduce.h"

namespace heed {
namespace {

Tensor compare(const char* name, Operand& a, Operand& b, const auto& f) {
  const OpScope scope(name, a.line());
  match_dtypes(a, b);
  return record(name, kernel::compare(a, b, f), {a, b});
}

Tensor test(const char* name, const Operand& x, const auto& f) {
  const OpScope scope(name, x.line());
  return record(name, kernel::test(x, f), {x});
}

// y is the larger or the smaller one, or NaN.   da = g where y is a, g / 2 where a = b, else 0;  db likewise
template <bool larger>
Tensor larger_or_smaller(const char* name, Operand& a, Operand& b) {
  const OpScope scope(name, a.line());
  match_dtypes(a, b);
  const auto f = [](auto u, auto v) { return (larger ? u > v : u < v) || u != u ? u : v; };
  const auto share = [](const Tensor& g, const Tensor& mine, const Tensor& other) {
    return where(mine == other, 0.5 * g, where(larger ? mine < other : mine > other, 0, g));
  };
  return record(
      name, kernel::zip(a, b, f, kernel::numbers),
      {{a, larger ? "g where $1 is larger, g / 2 where equal" : "g where $1 is smaller, g / 2 where equal",
        [share, a = save(a), b = save(b)](const Tensor& g) { return share(g, a(), b()); }},
       {b, larger ? "g where $2 is larger, g / 2 where equal" : "g where $2 is smaller, g / 2 where equal",
        [share, a = save(a), b = save(b)](const Tensor& g) { return share(g, b(), a()); }}});
}

// clamp by numbers, a missing one being the least or greatest of the dtype.   dx = g where min <= x <= max
Tensor clamp_between(const Operand& x, const Operand& min, const Operand& max) {
  const auto bound = [&x](const Operand& given, int64_t extreme, double infinity) {
    const Scalar missing = x->dtype() == int64 ? Scalar(extreme) : Scalar(infinity);
    return kernel::Factor(given.is_number() ? given.number() : missing, x->dtype());
  };
  const kernel::Factor low = bound(min, INT64_MIN, -INFINITY);
  const kernel::Factor high = bound(max, INT64_MAX, INFINITY);
  const auto f = [low, high]<class T>(T v) { return std::min(std::max(v, low.as<T>()), high.as<T>()); };
  auto rule = [low = low.as<double>(), high = high.as<double>(), x = save(x)](const Tensor& g) {
    return where(logical_and(x() >= low, x() <= high), g, 0);
  };
  return record("clamp", kernel::map(x, f, kernel::numbers),
                {{x, "g inside the bounds, 0 outside", std::move(rule)}},
                {{"min", low.as<double>()}, {"max", high.as<double>()}});
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
Tensor isinf(Operand x) { return test("isinf", x, [](auto v) { return v == v && v - v != 0; }); }
Tensor isfinite(Operand x) { return test("isfinite", x, [](auto v) { return v - v == 0; }); }
// clang-format on

bool allclose(Operand a, Operand b, double rtol, double atol, bool equal_nan) {
  const OpScope scope("allclose", a.line());
  check(rtol >= 0 && atol >= 0, "rtol is ", rtol, " and atol is ", atol, "; they must not be negative");
  match_dtypes(a, b);
  const auto close = [=](auto u, auto v) {
    const auto x = static_cast<double>(u), y = static_cast<double>(v), apart = std::abs(x - y);
    return u == v || (apart <= atol + rtol * std::abs(y) && apart < INFINITY) ||
           (equal_nan && u != u && v != v);
  };
  const Tensor each = kernel::compare(a, b, close);
  return kernel::amin(each, check_dims(each.dim(), {}), false).item<bool>();
}

Tensor where(Operand condition, Operand a, Operand b) {
  const OpScope scope("where", condition.line());
  check(condition->dtype() == boolean, "the condition is ", condition->dtype(), " ", condition->shape(),
        "; it must be bool, such as x > 0");
  match_dtypes(a, b);
  return record("where", kernel::where(condition, a, b),
                {{a, "g where $1 was chosen, 0 elsewhere",
                  [c = save(condition)](const Tensor& g) { return where(c(), g, 0); }},
                 {b, "g where $2 was chosen, 0 elsewhere",
                  [c = save(condition)](const Tensor& g) { return where(c(), 0, g); }}},
                {{"condition", condition}});
}

Tensor masked_fill(Operand x, Operand mask, Operand value) {
  const OpScope scope("masked_fill", x.line());
  check(!value.defined() || value->dim() == 0, "the value has shape ",
        value.defined() ? value->shape() : Shape{}, "; it must be one number");
  broadcast_shapes(x->shape(), mask->shape(), "x", "mask");
  return where(mask, value, x);
}

Tensor maximum(Operand a, Operand b) { return larger_or_smaller<true>("maximum", a, b); }
Tensor minimum(Operand a, Operand b) { return larger_or_smaller<false>("minimum", a, b); }

// x has the gradient where it is within the bounds, else the bound that replaces it.
Tensor clamp(Operand x, Operand min, Operand max) {
  const OpScope scope("clamp", x.line());
  const auto given = [](const Operand& bound) { return bound.is_number() || bound.defined(); };
  check(given(min) || given(max), "x is ", x->shape(), "; give a lower bound, an upper one, or both");
  if (!min.defined() && !max.defined()) return clamp_between(x, min, max);
  Operand y = x;
  if (given(min)) y.assign(where(logical_or(y >= min, isnan(y)), y, min));
  if (given(max)) y.assign(where(logical_or(y <= max, isnan(y)), y, max));
  return y;
}

}  // namespace heed
