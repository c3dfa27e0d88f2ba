#pragma once

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/loop.h"
#include "tensor/parallel.h"

namespace heed::kernel {

/// Number of elements that one thread takes at a time: this part of several tensors fits its cache.
inline constexpr int64_t kSweep = 8192;

/// An optional operand of sweep(): where it is undefined it reads as 0, and what is written to it is dropped.
struct OrZero {
  const Tensor& tensor;
};

namespace detail {

auto& element(auto* x, int64_t i, auto&&) { return x[i]; }
auto& element(std::nullptr_t, int64_t, auto&& zero) {
  auto& kept = zero;  // C++23 would return the parameter itself as an rvalue
  return kept;
}

/// f(pointer to the first element of each operand), with nullptr for an undefined OrZero.
template <class T>
void with_pointers(const auto& f) {
  f();
}
template <class T, class... Others>
void with_pointers(const auto& f, const Tensor& x, const Others&... others) {
  with_pointers<T>([&](auto... rest) { f(first_of<T>(x), rest...); }, others...);
}
template <class T, class... Others>
void with_pointers(const auto& f, OrZero x, const Others&... others) {
  if (x.tensor.defined()) return with_pointers<T>(f, x.tensor, others...);
  with_pointers<T>([&](auto... rest) { f(nullptr, rest...); }, others...);
}

}  // namespace detail

/// One pass of an optimizer over a parameter: rule(p, g, memory...) for every element, where g is
/// sign g + decay p. `rule` is a generic lambda; p and memory are references that it changes. All tensors
/// have one shape and floating dtype and are contiguous. Not counted as a write, see Note [Versions].
void sweep(const Tensor& p, const Tensor& g, double sign, double decay, const auto& rule,
           const auto&... memory) noexcept {
  visit_floating(p.dtype(), [&]<class T>(Type<T>) {
    const auto pass = [&](T* p_, const T* g_, auto... memory_) {
      parallel_for(p.numel(), kSweep, [&](int64_t begin, int64_t end) {
        at_level([=, each = rule, s = T(sign), d = T(decay)] {
          HEED_VECTORIZE
          for (int64_t i = begin; i < end; ++i)
            each(p_[i], s * g_[i] + d * p_[i], detail::element(memory_, i, T())...);
        });
      });
    };
    detail::with_pointers<T>(pass, p, g, memory...);
  });
}

/// sum |x|^p; the largest |x| for p = infinity, the number of nonzeros for p = 0. Summed in float64.
double sum_of_powers(const Tensor& x, double p);

}  // namespace heed::kernel
