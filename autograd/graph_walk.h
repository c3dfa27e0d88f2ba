#pragma once

#include "autograd/node.h"

/// Depth-first walk over a graph.
namespace heed::detail {

/// A node on the way down a graph, and which of its inputs comes next.
struct WalkStep {
  Node* node;
  int32_t next_input;
};

/// Walks the graph behind `root` depth first: calls leave(node) for every node that enter(node) accepts,
/// inputs first. enter() is called each time an edge reaches a node, and accepts each node once. The stack is
/// explicit, since graphs are too deep for recursion; it is empty before and after, and if a callback throws,
/// it holds the accepted nodes that were not left.
void walk(Node& root, auto& stack, auto&& enter, auto&& leave) {
  const auto visit = [&](Node& node) {
    if (stack.size() == stack.capacity()) stack.reserve(2 * stack.size() + 16);  // before enter() marks it
    if (enter(node)) stack.push_back({&node, 0});
  };
  visit(root);
  while (!stack.empty()) {
    Node& node = *stack.back().node;
    if (stack.back().next_input < node.input_count) {
      Node* input = node.inputs()[stack.back().next_input++].node.get();
      if (input) visit(*input);
    } else {
      leave(node);
      stack.pop_back();
    }
  }
}

}  // namespace heed::detail
