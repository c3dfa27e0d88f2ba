#include "tensor/kernels/elementwise.h"

#include "tensor/kernels/loop.h"
#include "tensor/kernels/math.h"

namespace heed::kernel {
namespace {

// f as a lambda over `auto`, run for the dtype at hand.

template <class F>
Tensor map(const Tensor& x, const F& f) {
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  visit_floating(x.dtype(), [&]<class T>(Type<T>) { apply<T, T>(f, y, x); });
  return y;
}

template <class F>
Tensor map_numbers(const Tensor& x, const F& f) {
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  visit_numbers(x.dtype(), [&]<class T>(Type<T>) { apply<T, T>(f, y, x); });
  return y;
}

// For sums and products: integers as unsigned ones, which wrap around where signed ones are undefined.
template <class F>
void visit_wrapping(DType dtype, const F& f) {
  visit_numbers(dtype, [&]<class T>(Type<T>) {
    f(Type<std::conditional_t<std::is_same_v<T, int64_t>, uint64_t, T>>());
  });
}

template <class T>
T factor(double x) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(x);
  return static_cast<T>(static_cast<int64_t>(x));
}

template <class F>
Tensor map_wrapping(const Tensor& x, const F& f) {
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  visit_wrapping(x.dtype(), [&]<class T>(Type<T>) { apply<T, T>(f, y, x); });
  return y;
}

Tensor empty_result(const Tensor& a, const Tensor& b, DType dtype) {
  if (a.shape() == b.shape()) return Tensor::empty(a.shape(), dtype);
  return Tensor::empty(broadcast_shapes(a.shape(), b.shape()), dtype);
}

template <class F>
Tensor zip(const Tensor& a, const Tensor& b, const F& f) {
  Tensor y = empty_result(a, b, a.dtype());
  visit_floating(a.dtype(), [&]<class T>(Type<T>) { apply<T, T, T>(f, y, a, b); });
  return y;
}

template <class F>
Tensor zip_numbers(const Tensor& a, const Tensor& b, const F& f) {
  Tensor y = empty_result(a, b, a.dtype());
  visit_numbers(a.dtype(), [&]<class T>(Type<T>) { apply<T, T, T>(f, y, a, b); });
  return y;
}

template <class F>
Tensor zip_wrapping(const Tensor& a, const Tensor& b, const F& f) {
  Tensor y = empty_result(a, b, a.dtype());
  visit_wrapping(a.dtype(), [&]<class T>(Type<T>) { apply<T, T, T>(f, y, a, b); });
  return y;
}

template <class F>
Tensor compare(const Tensor& a, const Tensor& b, const F& f) {
  Tensor y = empty_result(a, b, boolean);
  visit_dtype(a.dtype(), [&]<class T>(Type<T>) { apply<bool, T, T>(f, y, a, b); });
  return y;
}

template <class F>
void update(const Tensor& out, const Tensor& x, const F& f) {
  visit_wrapping(out.dtype(), [&]<class T>(Type<T>) { apply<T, T, T>(f, out, out, x); });
}

constexpr double kInvSqrt2 = 0.70710678118654752440;
constexpr double kInvSqrt2Pi = 0.39894228040143267794;

}  // namespace

void fill(const Tensor& out, Number value) {
  visit_dtype(out.dtype(), [&]<class T>(Type<T>) { apply<T>([v = value.to<T>()] { return v; }, out); });
}

Tensor full(const Shape& shape, Number value, DType dtype) {
  Tensor y = Tensor::empty(shape, dtype);
  fill(y, value);
  return y;
}

void copy_into(const Tensor& out, const Tensor& x) {
  visit_dtype(out.dtype(), [&]<class To>(Type<To>) {
    visit_dtype(x.dtype(), [&]<class From>(Type<From>) {
      apply<To, From>([](From v) { return static_cast<To>(v); }, out, x);
    });
  });
}

Tensor cast(const Tensor& x, DType dtype) {
  Tensor y = Tensor::empty(x.shape(), dtype);
  copy_into(y, x);
  return y;
}

Tensor clone(const Tensor& x) {
  Tensor y = detail::turned(x);
  return y.defined() ? y : cast(x, x.dtype());
}
Tensor contiguous(const Tensor& x) { return x.is_contiguous() ? x : clone(x); }

void add_into(const Tensor& out, const Tensor& x, double alpha) {
  if (alpha == 1) return update(out, x, [](auto a, auto b) { return a + b; });
  update(out, x, [alpha](auto a, auto b) { return a + factor<decltype(a)>(alpha) * b; });
}
void sub_into(const Tensor& out, const Tensor& x, double alpha) { add_into(out, x, -alpha); }
void mul_into(const Tensor& out, const Tensor& x) {
  update(out, x, [](auto a, auto b) { return a * b; });
}
void div_into(const Tensor& out, const Tensor& x) {
  visit_floating(out.dtype(),
                 [&]<class T>(Type<T>) { apply<T, T, T>([](T a, T b) { return a / b; }, out, out, x); });
}

// clang-format off
Tensor exp(const Tensor& x) { return map(x, [](auto v) { return math::exp(v); }); }
Tensor expm1(const Tensor& x) { return map(x, [](auto v) { return math::expm1(v); }); }
Tensor log(const Tensor& x) { return map(x, [](auto v) { return math::log(v); }); }
Tensor log1p(const Tensor& x) { return map(x, [](auto v) { return math::log1p(v); }); }
Tensor sqrt(const Tensor& x) { return map(x, [](auto v) { return std::sqrt(v); }); }
Tensor rsqrt(const Tensor& x) { return map(x, [](auto v) { return 1 / std::sqrt(v); }); }
Tensor reciprocal(const Tensor& x) { return map(x, [](auto v) { return 1 / v; }); }
Tensor sin(const Tensor& x) { return map(x, [](auto v) { return std::sin(v); }); }
Tensor cos(const Tensor& x) { return map(x, [](auto v) { return std::cos(v); }); }
Tensor tanh(const Tensor& x) { return map(x, [](auto v) { return math::tanh(v); }); }
Tensor sigmoid(const Tensor& x) { return map(x, [](auto v) { return math::sigmoid(v); }); }
Tensor erf(const Tensor& x) { return map(x, [](auto v) { return math::erf(v); }); }
Tensor silu(const Tensor& x) { return map(x, [](auto v) { return v * math::sigmoid(v); }); }
// clang-format on

Tensor leaky_relu(const Tensor& x, double slope) {
  return map(x, [slope](auto v) { return v > 0 ? v : static_cast<decltype(v)>(slope) * v; });
}
Tensor elu(const Tensor& x, double alpha) {
  return map(x, [alpha](auto v) { return v > 0 ? v : static_cast<decltype(v)>(alpha) * math::expm1(v); });
}
Tensor softplus(const Tensor& x, double beta, double threshold) {
  return map(x, [beta, threshold](auto v) {
    using T = decltype(v);
    const T scaled = T(beta) * v;
    return scaled > T(threshold) ? v : math::log1p(math::exp(scaled)) / T(beta);
  });
}
Tensor gelu(const Tensor& x) {
  return map(x, [](auto v) {
    using T = decltype(v);
    return v * (T(0.5) + T(0.5) * math::erf(v * T(kInvSqrt2)));
  });
}
Tensor gelu_tanh(const Tensor& x) {
  return map(x, [](auto v) {
    using T = decltype(v);
    return T(0.5) * v * (1 + math::tanh(T(2 * kInvSqrt2Pi) * (v + T(0.044715) * v * v * v)));
  });
}

Tensor tanh_backward(const Tensor& g, const Tensor& y) {
  return zip(g, y, [](auto g_, auto v) { return g_ * (1 - v * v); });
}
Tensor sigmoid_backward(const Tensor& g, const Tensor& y) {
  return zip(g, y, [](auto g_, auto v) { return g_ * v * (1 - v); });
}
Tensor relu_backward(const Tensor& g, const Tensor& y) {
  return zip(g, y, [](auto g_, auto v) { return v <= 0 ? decltype(g_)(0) : g_; });
}
Tensor gelu_backward(const Tensor& g, const Tensor& x) {
  return zip(g, x, [](auto g_, auto v) {
    using T = decltype(v);
    const T below = T(0.5) + T(0.5) * math::erf(v * T(kInvSqrt2));
    return g_ * (below + v * T(kInvSqrt2Pi) * math::exp(T(-0.5) * v * v));
  });
}
Tensor silu_backward(const Tensor& g, const Tensor& x) {
  return zip(g, x, [](auto g_, auto v) {
    const auto s = math::sigmoid(v);
    return g_ * s * (1 + v * (1 - s));
  });
}

// clang-format off
Tensor abs(const Tensor& x) { return map_numbers(x, [](auto v) { return v < 0 ? -v : v; }); }
Tensor neg(const Tensor& x) { return map_wrapping(x, [](auto v) { return -v; }); }
Tensor square(const Tensor& x) { return map_wrapping(x, [](auto v) { return v * v; }); }
Tensor relu(const Tensor& x) { return map_numbers(x, [](auto v) { return v < 0 ? decltype(v)(0) : v; }); }
Tensor sign(const Tensor& x) { return map_numbers(x, [](auto v) { return (v > 0) - (v < 0); }); }
Tensor floor(const Tensor& x) { return x.dtype() == int64 ? clone(x) : map(x, [](auto v) { return std::floor(v); }); }
Tensor trunc(const Tensor& x) { return x.dtype() == int64 ? clone(x) : map(x, [](auto v) { return std::trunc(v); }); }
Tensor add(const Tensor& a, const Tensor& b, double alpha) {
  if (alpha == 1) return zip_wrapping(a, b, [](auto u, auto v) { return u + v; });
  return zip_wrapping(a, b, [alpha](auto u, auto v) { return u + factor<decltype(u)>(alpha) * v; });
}
Tensor sub(const Tensor& a, const Tensor& b, double alpha) {
  if (alpha == 1) return zip_wrapping(a, b, [](auto u, auto v) { return u - v; });
  return add(a, b, -alpha);
}
Tensor mul(const Tensor& a, const Tensor& b) { return zip_wrapping(a, b, [](auto u, auto v) { return u * v; }); }
Tensor div(const Tensor& a, const Tensor& b) { return zip(a, b, [](auto u, auto v) { return u / v; }); }
Tensor pow(const Tensor& a, const Tensor& b) { return zip(a, b, [](auto u, auto v) { return std::pow(u, v); }); }
Tensor maximum(const Tensor& a, const Tensor& b) {
  return zip_numbers(a, b, [](auto u, auto v) { return u > v || u != u ? u : v; });
}
Tensor minimum(const Tensor& a, const Tensor& b) {
  return zip_numbers(a, b, [](auto u, auto v) { return u < v || u != u ? u : v; });
}
Tensor eq(const Tensor& a, const Tensor& b) { return compare(a, b, [](auto u, auto v) { return u == v; }); }
Tensor ne(const Tensor& a, const Tensor& b) { return compare(a, b, [](auto u, auto v) { return u != v; }); }
Tensor lt(const Tensor& a, const Tensor& b) { return compare(a, b, [](auto u, auto v) { return u < v; }); }
Tensor le(const Tensor& a, const Tensor& b) { return compare(a, b, [](auto u, auto v) { return u <= v; }); }
Tensor logical_and(const Tensor& a, const Tensor& b) { return compare(a, b, [](auto u, auto v) { return u && v; }); }
Tensor logical_or(const Tensor& a, const Tensor& b) { return compare(a, b, [](auto u, auto v) { return u || v; }); }
// clang-format on

Tensor clamp(const Tensor& x, std::optional<double> min, std::optional<double> max) {
  return map_numbers(x, [min, max](auto v) {
    using T = decltype(v);
    if (min && v < T(*min)) v = T(*min);
    if (max && v > T(*max)) v = T(*max);
    return v;
  });
}

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  const Shape shape = broadcast_shapes(condition.shape(), broadcast_shapes(a.shape(), b.shape()));
  Tensor y = Tensor::empty(shape, a.dtype());
  visit_dtype(a.dtype(), [&]<class T>(Type<T>) {
    apply<T, bool, T, T>([](bool c, T u, T v) { return c ? u : v; }, y, condition, a, b);
  });
  return y;
}

namespace {
template <class F>
Tensor test(const Tensor& x, const F& f) {
  Tensor y = Tensor::empty(x.shape(), boolean);
  visit_dtype(x.dtype(), [&]<class T>(Type<T>) { apply<bool, T>(f, y, x); });
  return y;
}
}  // namespace

Tensor isnan(const Tensor& x) {
  return test(x, [](auto v) { return v != v; });
}
Tensor isfinite(const Tensor& x) {
  return test(x, [](auto v) { return v - v == 0; });
}
Tensor logical_not(const Tensor& x) {
  return test(x, [](auto v) { return !v; });
}

}  // namespace heed::kernel
