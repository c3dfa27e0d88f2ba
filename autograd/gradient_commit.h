#pragma once

#include "autograd/node.h"

/// Where the gradients of a backward pass end: in the tensors that keep them, or in the result of grad().
namespace heed::detail {

/// The inputs of grad(), found by their nodes, and their gradients so far. Inputs may repeat.
struct Targets {
  /// Null: none, the gradients go to the leaves.
  explicit Targets(const std::vector<Tensor>* inputs);

  bool contains(const Node& node) const { return std::ranges::binary_search(slots, &node, {}, &Slot::first); }
  /// Adds `g` to the gradient of every input whose node this is.
  void add(const Node& node, const Tensor& g);

  /// Pairs of a node and a position among the inputs, sorted.
  using Slot = std::pair<const Node*, size_t>;
  std::vector<Slot> slots;
  std::vector<Tensor> gradients;  ///< Undefined for inputs that no gradient reached.
};

/// sum + g, in place if no other handle can see `sum`.
Tensor added(Tensor sum, const Tensor& g);
/// sum += g; the first gradient is moved in.
inline void accumulate(Tensor& sum, Tensor g) {
  sum = sum.defined() ? added(std::move(sum), g) : std::move(g);
}

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
