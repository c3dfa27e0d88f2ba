#pragma once

#include "autograd/node.h"

/// The end of a backward pass: hooks of leaves, and gradients that tensors keep.
namespace heed::detail {

Tensor run_hooks(const Node& node, Tensor g);
/// Runs the hooks of the node's tensor on its complete gradient, and returns the gradient that they leave.
inline Tensor apply_hooks(const Node& node, Tensor g) {
  return node.hooks ? run_hooks(node, std::move(g)) : g;
}

/// `g` in memory of its own: neither the seed nor the gradient of another tensor shares it.
Tensor make_unique(Tensor g);

/// Adds to the gradient slot of each node the gradient that is in `incoming`, all or none: whatever can throw
/// happens before the first slot changes. `line` is that of backward(), for messages.
void commit_gradients(const std::vector<Node*>& nodes, SourceLocation line);

}  // namespace heed::detail
