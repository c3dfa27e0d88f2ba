#include "tests/support/leaves.h"

#include <set>

#include "autograd/node.h"

namespace heed::test {

std::string forgotten_leaves(const Tensor& output, const Module& module, const std::vector<Tensor>& inputs) {
  if (!output.requires_grad()) return "";
  std::set<const Node*> known;
  for (const Tensor& parameter : module.parameters())
    if (parameter.requires_grad()) known.insert(Node::of(parameter));
  for (const Tensor& input : inputs)
    if (input.requires_grad()) known.insert(Node::of(input));

  std::string forgotten;
  std::vector<const Node*> open{Node::of(output)};
  std::set<const Node*> seen{open[0]};
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (node->is_leaf() && !known.contains(node))
      forgotten += "a leaf of shape " + to_string(node->shape) + " is not in parameters()\n";
    for (int32_t i = 0; i < node->input_count; ++i)
      if (const Node* input = node->inputs()[i].node.get(); input && seen.insert(input).second)
        open.push_back(input);
  }
  return forgotten;
}

}  // namespace heed::test
