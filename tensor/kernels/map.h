#pragma once

#include "tensor/kernels/loop.h"
#include "tensor/scalar.h"

/// Kernels from a formula for one element. `f` is a lambda over `auto` and runs for the dtype at hand:
///
///   map(x, [](auto v) { return math::exp(v); })
///   zip(a, b, [](auto u, auto v) { return u * v; }, wrapping)
///
/// Results are new and contiguous. Operands have one dtype and any strides, and two of them broadcast.
namespace heed::kernel {

/// The dtypes that a formula accepts; others throw.
inline constexpr auto floating = [](DType dtype, const auto& run) { visit_floating(dtype, run); };
inline constexpr auto numbers = [](DType dtype, const auto& run) { visit_numbers(dtype, run); };
/// Numbers, with int64 as an unsigned type, whose sums and products wrap around where signed ones are
/// undefined.
inline constexpr auto wrapping = [](DType dtype, const auto& run) {
  visit_numbers(dtype, [&]<class T>(Type<T>) { run(Type<Wrapping<T>>()); });
};
using Floating = std::remove_const_t<decltype(floating)>;
using WrappingNumbers = std::remove_const_t<decltype(wrapping)>;

namespace detail {
inline Tensor empty_result(const Tensor& a, const Tensor& b, DType dtype) {
  if (a.shape() == b.shape()) return Tensor::empty(a.shape(), dtype);
  return Tensor::empty(broadcast_shapes(a.shape(), b.shape()), dtype);
}
}  // namespace detail

/// f(x)
template <class F, class Dtypes = Floating>
Tensor map(const Tensor& x, const F& f, Dtypes dtypes = {}) {
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  dtypes(x.dtype(), [&]<class T>(Type<T>) { apply<T, T>(f, y, x); });
  return y;
}

/// f(a, b)
template <class F, class Dtypes = Floating>
Tensor zip(const Tensor& a, const Tensor& b, const F& f, Dtypes dtypes = {}) {
  Tensor y = detail::empty_result(a, b, a.dtype());
  dtypes(a.dtype(), [&]<class T>(Type<T>) { apply<T, T, T>(f, y, a, b); });
  return y;
}

/// out = f(out, x), in place; x broadcasts to out.
template <class F, class Dtypes = WrappingNumbers>
void update(const Tensor& out, const Tensor& x, const F& f, Dtypes dtypes = {}) {
  dtypes(out.dtype(), [&]<class T>(Type<T>) { apply<T, T, T>(f, out, out, x); });
}

/// f(x), a bool, for every dtype
Tensor test(const Tensor& x, const auto& f) {
  Tensor y = Tensor::empty(x.shape(), boolean);
  visit_dtype(x.dtype(), [&]<class T>(Type<T>) { apply<bool, T>(f, y, x); });
  return y;
}

/// f(a, b), a bool, for every dtype
Tensor compare(const Tensor& a, const Tensor& b, const auto& f) {
  Tensor y = detail::empty_result(a, b, boolean);
  visit_dtype(a.dtype(), [&]<class T>(Type<T>) { apply<bool, T, T>(f, y, a, b); });
  return y;
}

/// A number that formulas multiply by. The constructor throws if the dtype cannot hold it, so that reading it
/// needs no check.
class Factor {
 public:
  Factor(Scalar number, DType dtype)
      : real_(number.to<double>()), whole_(dtype == int64 ? number.to<int64_t>() : 0) {}
  template <class T>
  T as() const {
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(real_);
    return static_cast<T>(whole_);
  }

 private:
  double real_;
  int64_t whole_;
};

/// The formula u + alpha v, or u - alpha v.
template <int sign = 1>
auto plus_multiple(Scalar alpha, DType dtype) {
  return [by = Factor(alpha, dtype)](auto u, auto v) { return u + sign * by.as<decltype(u)>() * v; };
}

}  // namespace heed::kernel
