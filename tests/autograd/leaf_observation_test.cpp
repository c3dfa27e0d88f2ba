#include "autograd/leaf_observation.h"

#include "tests/support/expect.h"

TEST_CASE("an observer is called when the gradient of a leaf is complete") {
  struct Leaves : Observer {
    void on_backward(Node& node, const Tensor&) override { seen.emplace_back(node.name); }
    void on_leaf_gradient(Node&, const Tensor& g) override { seen.push_back(to_string(values(g)[0])); }
    Texts seen;
  };
  const Tensor x = leaf(2), w = leaf(3);
  const Tensor y = x * w * w + x;
  Leaves leaves;
  y.backward();
  CHECK(leaves.seen == Texts{"add", "mul", "mul", "10", "12"});
}
