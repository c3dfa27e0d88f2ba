#pragma once

#include "autograd/node.h"

/// The order of a backward pass: backward() and grad().
namespace heed {

/// Choices of backward and grad.
struct GradOptions {
  std::vector<Tensor> grad_outputs = {};  ///< the incoming gradients; a one-element output may do without
  bool create_graph = false;  ///< record the gradient's own computation, to differentiate it again
  bool retain_graph = false;  ///< keep the graph for another pass; create_graph implies it
  bool allow_unused = false;  ///< an input that outputs do not depend on: undefined, not an error
};

/// Adds the gradient of sum_k <outputs_k, gradients_k> to the `grad()` of every leaf behind the outputs.
/// Errors: an output that needs no gradient; one of several elements without an incoming gradient; a graph
/// that was let go.
void backward(const std::vector<Tensor>& outputs, const GradOptions& options = {},
              SourceLocation line = SourceLocation::current());

/// The gradients of sum_k <outputs_k, grad_outputs_k> with respect to `inputs`, in their order and shapes.
/// Touches no leaf's grad(), so threads that share leaves but no graph may run it at the same time.
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const GradOptions& options = {}, SourceLocation line = SourceLocation::current());

/// The same for one output, written grad(y, {x, w}, true) when the result is to be differentiated again.
inline std::vector<Tensor> grad(const Tensor& output, const std::vector<Tensor>& inputs,
                                bool create_graph = false, SourceLocation line = SourceLocation::current()) {
  return grad(std::vector{output}, inputs, {.create_graph = create_graph}, line);
}

namespace detail {
/// grad() with create_graph that does not look behind `inputs`; undefined where one is unused, or needs no
/// gradient. For Note [Reference implementations] in autograd/node.h.
std::vector<Tensor> grad_up_to(const Tensor& output, const std::vector<Tensor>& inputs, const Tensor& g);
}  // namespace detail

}  // namespace heed
