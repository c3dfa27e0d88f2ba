#pragma once

#include "autograd/node.h"

/// The tensors whose gradients grad() returns.
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

}  // namespace heed::detail
