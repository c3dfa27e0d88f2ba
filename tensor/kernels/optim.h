#pragma once

#include <variant>

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

/// A pointer to the first element, or nullptr for an undefined OrZero.
template <class T>
std::variant<T*> first_or_null(const Tensor& x) {
  return first_of<T>(x);
}
template <class T>
std::variant<T*, std::nullptr_t> first_or_null(OrZero x) {
  if (x.tensor.defined()) return first_of<T>(x.tensor);
  return nullptr;
}

}  // namespace detail

/// One pass of an optimizer over a parameter: rule(p, g, memory...) for every element, where g is
/// sign g + decay p. `rule` is a generic lambda; p and memory are references that it changes. All tensors
/// have one shape and floating dtype and are contiguous. Not counted as a write, see Note [Versions].
void sweep(const Tensor& p, const Tensor& g, double sign, double decay, const auto& rule,
           const auto&... memory) noexcept {
  visit_floating(p.dtype(), [&]<class T>(Type<T>) {
    const auto pass = [&, p_ = detail::first_of<T>(p), g_ = detail::first_of<T>(g)](auto... memory_) {
      parallel_for(p.numel(), kSweep, [&](int64_t begin, int64_t end) {
        at_level([=, each = rule, s = T(sign), d = T(decay)] {
          HEED_VECTORIZE
          for (int64_t i = begin; i < end; ++i)
            each(p_[i], s * g_[i] + d * p_[i], detail::element(memory_, i, T())...);
        });
      });
    };
    std::visit(pass, detail::first_or_null<T>(memory)...);
  });
}

/// sum |x|^p; the largest |x| for p = infinity, the number of nonzeros for p = 0. Summed in float64.
double sum_of_powers(const Tensor& x, double p);

}  // namespace heed::kernel
