#include "autograd/targets.h"

#include "autograd/ops/arithmetic.h"
#include "tensor/kernels/elementwise.h"

namespace heed::detail {

Targets::Targets(const std::vector<Tensor>* inputs) : gradients(inputs ? inputs->size() : 0) {
  for (size_t i = 0; inputs && i < inputs->size(); ++i)
    if (const Tensor& x = (*inputs)[i]; x.requires_grad()) slots.push_back({Node::of(x), i});
  std::sort(slots.begin(), slots.end());
}

void Targets::add(const Node& node, const Tensor& g) {
  for (const auto& [target, slot] : std::ranges::equal_range(slots, &node, {}, &Slot::first))
    accumulate(gradients[slot], g);
}

Tensor added(Tensor sum, const Tensor& g) {
  if (grad_enabled()) return sum + g;
  if (!TensorImpl::unique(sum) || !sum.is_contiguous()) return kernel::add(sum, g);
  kernel::add_into(sum, g);
  return sum;
}

}  // namespace heed::detail
