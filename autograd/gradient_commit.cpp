#include "autograd/gradient_commit.h"

#include "autograd/gradient_slot.h"
#include "autograd/ops/basic.h"
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

Tensor run_hooks(const Node& node, Tensor g) {
  node.hooks->each([&](const auto& hook) {
    const Tensor replaced = hook(g);
    if (!replaced.defined()) return;
    check(replaced.shape() == g.shape() && replaced.dtype() == g.dtype(), "hook on ", node.name,
          ": the gradient is ", g.dtype(), " ", g.shape(), " and the hook returned ", replaced.dtype(), " ",
          replaced.shape());
    g = replaced;
  });
  return g;
}

Tensor make_unique(Tensor g) { return TensorImpl::unique(g) && g.is_contiguous() ? std::move(g) : clone(g); }

void commit_gradients(const std::vector<Node*>& nodes, SourceLocation line) {
  for (Node* node : nodes)
    if (node->is_leaf()) node->incoming = apply_hooks(*node, std::move(node->incoming));
  std::vector<Tensor> sums(nodes.size());
  {
    const auto guard = GradientSlot::lock();
    for (size_t i = 0; i < sums.size(); ++i) sums[i] = GradientSlot::gradient(*nodes[i]);
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    Tensor& g = nodes[i]->incoming;
    if (!sums[i].defined())
      sums[i] = make_unique(std::move(g));
    else if (grad_enabled() || sums[i].requires_grad() || !sums[i].is_contiguous())
      sums[i] = sums[i] + std::exchange(g, Tensor());
    GradientSlot::check_gradient(*nodes[i], sums[i]);
  }
  for (size_t i = 0; i < sums.size(); ++i)
    if (const Tensor g = std::exchange(nodes[i]->incoming, Tensor()); g.defined()) {
      kernel::add_into(sums[i], g);
      TensorImpl::of(sums[i]).storage->wrote("backward", line);
    }
  const auto guard = GradientSlot::lock();
  for (size_t i = 0; i < sums.size(); ++i) GradientSlot::swap_gradient(*nodes[i], sums[i]);
}

}  // namespace heed::detail
