// Derivatives of gradients that one joint rule computes.
#include "autograd/engine.h"
#include "autograd/ops/shape.h"
#include "autograd/recompute.h"

namespace heed {

// Gradients of a node with a reference implementation, computed from it so that they can be differentiated
// again: see Note [Reference implementations] in autograd/node.h.
Gradients Node::differentiate_reference(const Tensor& g) {
  // Through views of its own, an input that appears twice receives each gradient once.
  std::vector<Tensor> views;
  for (int32_t i = 0; i < input_count; ++i) {
    const Tensor& x = joint->source->inputs[static_cast<size_t>(i)]();
    views.push_back(inputs()[i].node ? alias(x) : x.defined() ? x.detach() : x);
  }
  const OpScope scope(name, line);
  const Tensor y = joint->reference(views);
  return detail::grad_until(y, views, g);
}

}  // namespace heed
