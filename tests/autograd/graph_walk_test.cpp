#include "autograd/graph_walk.h"

#include "tests/support/expect.h"

TEST_CASE("walk visits each accepted node once, inputs first") {
  const Tensor x = leaf(2);
  const Tensor y = x * x, z = y - x, w = z / y;
  std::vector<const Node*> entered;
  Texts left;
  std::vector<detail::WalkStep> stack;
  detail::walk(
      *Node::of(w), stack,
      [&](Node& node) {
        const bool is_new = std::ranges::find(entered, &node) == entered.end();
        if (is_new) entered.push_back(&node);
        return is_new;
      },
      [&](const Node& node) { left.emplace_back(node.name); });
  CHECK(left == Texts{"leaf", "mul", "sub", "div"});
  CHECK(stack.empty());
}
