#pragma once

#include <unordered_map>

#include "autograd/node.h"

/// When the gradient of a leaf is complete, for observers.
namespace heed::detail {

/// Counts the users of each leaf in an observed backward pass.
class LeafObservation {
 public:
  /// The node is part of the pass.
  [[gnu::cold]] void expect(const Node& node) {
    for (int32_t i = 0; i < node.input_count; ++i)
      if (const Node* input = node.inputs()[i].node.get(); input && input->is_leaf()) ++users_left_[input];
  }
  /// The node is done: a leaf of which it was the last user has its whole gradient.
  [[gnu::cold]] void processed(const Node& node) {
    for (int32_t i = 0; i < node.input_count; ++i) {
      Node* input = node.inputs()[i].node.get();
      if (!input || !input->is_leaf() || --users_left_[input] > 0 || !input->incoming.defined()) continue;
      Observer::each([&](Observer& observer) { observer.on_leaf_gradient(*input, input->incoming); });
    }
  }

 private:
  std::unordered_map<const Node*, int64_t> users_left_;
};

}  // namespace heed::detail
