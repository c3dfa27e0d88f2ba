#pragma once

#include "tensor/tensor.h"

/// Derivatives of functions, as in torch.func and torch.autograd.functional. A vector-Jacobian product is
/// grad() with grad_outputs.
namespace heed {

/// What jvp returns.
struct JvpResult {
  Tensor output;  ///< f(x)
  Tensor jvp;     ///< its derivative along v, in the same shape
};

namespace detail {

/// A function of a list of tensors. Holds a reference to the callable, so it must not outlive it.
struct TensorFunction : std::function<Tensor(const std::vector<Tensor>&)> {
  TensorFunction(const auto& f) : function([&f](const std::vector<Tensor>& x) -> Tensor { return f(x); }) {}
};

/// The gradients of sum_k <outputs_k, grad_outputs_k>, with zeros where there is none. The graph is kept.
std::vector<Tensor> gradients_or_zeros(const std::vector<Tensor>& outputs,
                                       const std::vector<Tensor>& grad_outputs,
                                       const std::vector<Tensor>& inputs, bool create_graph,
                                       SourceLocation line = SourceLocation::current());

// A function of one tensor as a function of a list.
auto of_list(const auto& f) {
  return [&f](const std::vector<Tensor>& x) -> Tensor { return f(x[0]); };
}

}  // namespace detail

/// J[i.., j..] = dy[i..] / dx[j..] of y = f(x), by one reverse pass for each element of y.
///
///   f         Tensor -> Tensor, made of operations
///   x         floating; its own gradient does not change
///   returns   [shape of y, shape of x]; 0 where y does not depend on x
///
/// With create_graph the result can be differentiated again, also with respect to x if it requires a
/// gradient. Errors: y is not floating; the result has more than 8 dimensions.
Tensor jacobian(const auto& f, const Tensor& x, bool create_graph = false,
                SourceLocation line = SourceLocation::current()) {
  return jacobian(detail::of_list(f), std::vector{x}, create_graph, line)[0];
}
/// The same of a function of a list, one Jacobian for each tensor in it.
std::vector<Tensor> jacobian(const detail::TensorFunction& f, const std::vector<Tensor>& x,
                             bool create_graph = false, SourceLocation line = SourceLocation::current());

/// H[i.., j..] = d^2 y / dx[i..] dx[j..] of y = f(x), a single number: the Jacobian of the gradient.
///
///   returns   [shape of x, shape of x]
///
/// Otherwise as in jacobian.
Tensor hessian(const auto& f, const Tensor& x, bool create_graph = false,
               SourceLocation line = SourceLocation::current()) {
  return hessian(detail::of_list(f), std::vector{x}, create_graph, line)[0][0];
}
/// The same of a function of a list: for tensors k and l in it, [k][l] is [shape of x_k, shape of x_l].
std::vector<std::vector<Tensor>> hessian(const detail::TensorFunction& f, const std::vector<Tensor>& x,
                                         bool create_graph = false,
                                         SourceLocation line = SourceLocation::current());

/// f(x) and its derivative along v, sum_j v[j] dy / dx[j]: a Jacobian-vector product. v has the shape and
/// dtype of x.
///
/// Computed by two reverse passes: u^T J is linear in u, and its derivative with respect to u, along v, is
/// J v. Otherwise as in jacobian.
JvpResult jvp(const auto& f, const Tensor& x, const Tensor& v, bool create_graph = false,
              SourceLocation line = SourceLocation::current()) {
  return jvp(detail::of_list(f), std::vector{x}, std::vector{v}, create_graph, line);
}
/// The same of a function of a list, with one v for each tensor in it.
JvpResult jvp(const detail::TensorFunction& f, const std::vector<Tensor>& x, const std::vector<Tensor>& v,
              bool create_graph = false, SourceLocation line = SourceLocation::current());

}  // namespace heed
