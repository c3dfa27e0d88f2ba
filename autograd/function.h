#pragma once

#include <array>

#include "autograd/node.h"

/// User-defined operations from a forward and its gradient.
namespace heed {

namespace detail {

// T for every index I: `As<Tensor, I>...` is one Tensor for each I.
template <class T, size_t I>
using As = T;

// Whether F can be called with First... and then one tensor for each I.
template <class F, class... First, size_t... I>
constexpr bool takes_tensors(std::index_sequence<I...>) {
  return std::invocable<const F&, First..., As<const Tensor&, I>...>;
}

// The number of tensors that F takes, from 1 to 8; 0 if there is none.
template <class F, size_t N = 1>
constexpr size_t tensor_count() {
  if constexpr (N > 8)
    return 0;
  else if constexpr (takes_tensors<F>(std::make_index_sequence<N>()))
    return N;
  else
    return tensor_count<F, N + 1>();
}

inline Gradients as_gradients(Tensor gradient) { return {std::move(gradient)}; }
inline Gradients as_gradients(Gradients gradients) { return gradients; }
template <size_t N>
Gradients as_gradients(const std::array<Tensor, N>& gradients) {
  return {gradients.begin(), gradients.end()};
}

// The result of function(): an operation of one tensor for each I.
template <class Forward, class Backward, size_t... I>
auto operation(std::string name, Forward forward, Backward backward, std::index_sequence<I...>) {
  return [=](As<Operand, I>... inputs) -> Tensor {
    const OpScope scope(name.c_str(), std::array{inputs.line()...}[0]);
    (check(!inputs.is_number(), "an input is a number; write tensor(", inputs.number(), ")"), ...);
    const Tensor y = [&] {
      const NoGrad no_records;
      return Tensor(forward(inputs.tensor()...)).detach();
    }();
    check(y.defined() && is_floating(y.dtype()), "the forward gave ",
          y.defined() ? to_string(y.dtype()) : "an undefined tensor",
          "; a gradient needs float32 or float64");
    JointRule rule = [name, backward, saved = std::array{save(inputs)...}](const Tensor& g, const Tensor&) {
      Gradients gradients = as_gradients(backward(g, saved[I]()...));
      check_in(name.c_str(), gradients.size() == sizeof...(I), "the gradient rule gave ", gradients.size(),
               " gradients for ", sizeof...(I), " inputs; give one for each, undefined where there is none");
      return gradients;
    };
    return record(name.c_str(), y, {inputs...}, std::move(rule), nullptr);
  };
}

}  // namespace detail

/// Makes an operation from a forward and its gradient:
///
///   const auto cube = function(
///       "cube", [](const Tensor& x) { return x * x * x; },
///       [](const Tensor& g, const Tensor& x) { return g * 3 * x * x; });
///   Tensor y = cube(x);
///
///   name      appears in errors and graphs
///   forward   (x, ...) -> y for 1 to 8 inputs; not recorded, so it may loop over data()
///   backward  (g, x, ...) -> the gradient of each input: a Tensor for one input, a std::vector or std::array
///             for several; undefined means zero. Written in operations, it can be differentiated again.
///
/// The operation throws for a number of gradients other than that of the inputs, and if an input is
/// overwritten before backward.
template <class Forward, class Backward>
auto function(std::string name, Forward forward, Backward backward) {
  constexpr size_t n = detail::tensor_count<Forward>();
  using Inputs = std::make_index_sequence<n>;
  static_assert(n > 0, "the forward must take 1 to 8 tensors: [](const Tensor& x, const Tensor& y) {...}");
  static_assert(n == 0 || detail::takes_tensors<Backward, const Tensor&>(Inputs()),
                "the backward must take the incoming gradient and then every input of the forward: "
                "[](const Tensor& g, const Tensor& x) {...}");
  if constexpr (n > 0 && detail::takes_tensors<Backward, const Tensor&>(Inputs()))
    return detail::operation(std::move(name), std::move(forward), std::move(backward), Inputs());
  else
    return [](const auto&...) { return Tensor(); };  // the compiler has reported the mistake
}

}  // namespace heed
