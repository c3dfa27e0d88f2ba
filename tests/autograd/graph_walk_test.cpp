#include "autograd/graph_walk.h"

#include "autograd/ops/arithmetic.h"
#include "tests/support/expect.h"

using namespace heed;

TEST_CASE("walk leaves each accepted node once, inputs first") {
  const Tensor x = leaf(2);
  const Tensor y = x * x, z = y - x, w = z / y;
  std::vector<const Node*> entered;
  std::vector<std::string> left;
  std::vector<detail::WalkStep> stack;
  detail::walk(
      *Node::of(w), stack,
      [&](Node& node) {
        const bool is_new = std::ranges::find(entered, &node) == entered.end();
        if (is_new) entered.push_back(&node);
        return is_new;
      },
      [&](const Node& node) { left.emplace_back(node.name); });
  CHECK(left == std::vector<std::string>{"leaf", "mul", "sub", "div"});
  CHECK(stack.empty());
}
