#include "tests/support/leaves.h"

#include <set>

#include "autograd/graph.h"
#include "autograd/node.h"

namespace heed::test {

std::string forgotten_leaves(const Tensor& output, const Module& module, const std::vector<Tensor>& inputs) {
  std::set<const Node*> known;
  for (const Tensor& parameter : module.parameters())
    if (parameter.requires_grad()) known.insert(Node::of(parameter));
  for (const Tensor& input : inputs)
    if (input.requires_grad()) known.insert(Node::of(input));

  std::string forgotten;
  for (const Node* leaf : graph_leaves(output))
    if (!known.contains(leaf))
      forgotten += "a leaf of shape " + to_string(leaf->shape) + " is not in parameters()\n";
  return forgotten;
}

}  // namespace heed::test
