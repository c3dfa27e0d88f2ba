#pragma once

#include <array>

#include "autograd/node.h"

/// An operation of one's own, from a forward and its gradient.
namespace heed {

namespace detail {

template <class T, size_t>
using One = T;

template <class F, class... Before, size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return std::invocable<const F&, Before..., One<const Tensor&, I>...>;
}
/// The number of tensors that F takes, 9 when it takes none of 1 to 8.
template <class F, size_t N = 1>
constexpr size_t input_count() {
  if constexpr (N > 8 || takes<F>(std::make_index_sequence<N>()))
    return N;
  else
    return input_count<F, N + 1>();
}

inline Gradients as_gradients(Tensor gradient) { return {std::move(gradient)}; }
inline Gradients as_gradients(Gradients gradients) { return gradients; }
template <size_t N>
Gradients as_gradients(const std::array<Tensor, N>& gradients) {
  return {gradients.begin(), gradients.end()};
}

inline void check_tensor(const Operand& input) {
  check(!input.is_number(), "an input is a number; write tensor(", input.number(), ")");
}
inline void check_result(const Tensor& y) {
  check(y.defined() && is_floating(y.dtype()), "the forward gave ",
        y.defined() ? to_string(y.dtype()) : "an undefined tensor", "; a gradient needs float32 or float64");
}
inline Gradients one_for_each(const std::string& name, size_t inputs, Gradients gradients) {
  check_in(name.c_str(), gradients.size() == inputs, "the gradient rule gave ", gradients.size(),
           " gradients for ", inputs, " inputs; give one for each, undefined where there is none");
  return gradients;
}

}  // namespace detail

/// An operation of your own, from a forward and its gradient:
///
///   const auto cube = function(
///       "cube", [](const Tensor& x) { return x * x * x; },
///       [](const Tensor& g, const Tensor& x) { return g * 3 * x * x; });
///   Tensor y = cube(x);
///
///   name      errors and graphs show it
///   forward   (x, ...) -> y, with 1 to 8 inputs; runs without recording, so it may use loops over data()
///   backward  (g, x, ...) -> the gradient of each input: a Tensor for one, a std::vector or std::array for
///             several; undefined means zero. Written in operations, it can be differentiated again.
///
/// Errors when run: a number of gradients other than that of the inputs; an input overwritten before
/// backward.
template <class Forward, class Backward>
auto function(std::string name, Forward forward, Backward backward) {
  constexpr size_t n = detail::input_count<Forward>();
  using Inputs = std::make_index_sequence<n>;
  constexpr bool fits = n > 8 || detail::takes<Backward, const Tensor&>(Inputs());
  static_assert(n <= 8, "the forward must take 1 to 8 tensors: [](const Tensor& x, const Tensor& y) {...}");
  static_assert(fits,
                "the backward must take the incoming gradient and then every input of the forward: "
                "[](const Tensor& g, const Tensor& x) {...}");
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return [name = std::move(name), forward = std::move(forward),
            backward = std::move(backward)](detail::One<Operand, I>... inputs) -> Tensor {
      if constexpr (n <= 8 && fits) {  // else the compiler has said what is wrong
        const OpScope scope(name.c_str(), std::array{inputs.line()...}[0]);
        (detail::check_tensor(inputs), ...);
        Tensor y = [&] {
          const NoGrad guard;
          return Tensor(forward(inputs.tensor()...)).detach();
        }();
        detail::check_result(y);
        JointRule rule = [name, backward, saved = std::array{save(inputs)...}](const Tensor& g,
                                                                               const Tensor&) {
          return detail::one_for_each(name, n, detail::as_gradients(backward(g, saved[I]()...)));
        };
        return record(name.c_str(), std::move(y), {inputs...}, std::move(rule), nullptr);
      }
    };
  }(Inputs());
}

}  // namespace heed
