#pragma once

#include "autograd/node.h"

/// Backpropagation: backward() and grad().
namespace heed {

/// Options of backward() and grad().
struct GradOptions {
  std::vector<Tensor> grad_outputs = {};  ///< Incoming gradients; an output of one element may omit its own.
  bool create_graph = false;  ///< Record the gradient's own computation, to differentiate it again.
  bool retain_graph = false;  ///< Keep the graph for another pass; create_graph implies it.
  bool allow_unused = false;  ///< An input that the outputs do not use gives an undefined tensor, no error.
};

/// Adds the gradient of sum_k <outputs_k, grad_outputs_k> to the `grad()` of every leaf behind the outputs.
/// If it throws, no gradient has changed. Errors: an output that needs no gradient; one of several elements
/// without an incoming gradient; a graph that was released.
void backward(const std::vector<Tensor>& outputs, const GradOptions& options = {},
              SourceLocation line = SourceLocation::current());

/// Returns the gradients of sum_k <outputs_k, grad_outputs_k> with respect to `inputs`, in their order and
/// shapes. Changes no leaf's grad(), so threads that share leaves but no graph may call it concurrently.
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const GradOptions& options = {}, SourceLocation line = SourceLocation::current());

/// The same for one output: grad(y, {x, w}, true) for a result that is differentiated again.
inline std::vector<Tensor> grad(const Tensor& output, const std::vector<Tensor>& inputs,
                                bool create_graph = false, SourceLocation line = SourceLocation::current()) {
  return grad(std::vector{output}, inputs, {.create_graph = create_graph}, line);
}

namespace detail {
/// grad() with create_graph that stops at `inputs`. A gradient is undefined if the output does not depend on
/// the input or does not require a gradient.
std::vector<Tensor> grad_until(const Tensor& output, const std::vector<Tensor>& inputs, const Tensor& g);
}  // namespace detail

}  // namespace heed
