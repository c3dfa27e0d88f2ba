#include "autograd/double_backward.h"

#include "autograd/engine.h"
#include "autograd/ops/shape.h"
#include "autograd/recompute.h"

namespace heed {

Gradients detail::differentiate_reference(Node& node, const Tensor& g) {
  // Through views of its own, an input that appears twice receives each gradient once.
  std::vector<Tensor> views;
  for (int32_t i = 0; i < node.input_count; ++i) {
    const Tensor& x = node.joint->source->inputs[static_cast<size_t>(i)]();
    views.push_back(node.inputs()[i].node ? alias(x) : x.defined() ? x.detach() : x);
  }
  const OpScope scope(node.name, node.line);
  const Tensor y = node.joint->reference(views);
  return grad_until(y, views, g);
}

}  // namespace heed
