#include "autograd/gradient_slot.h"

namespace heed {

GradientSlot::GradientSlot(const Tensor& x, Ref<Node> node)
    : AutogradMeta(node.get()),
      created_after_save(node->saved && TensorImpl::of(x).references.value() > 1),
      node_(std::move(node)),
      alias_(x.detach()) {
  TensorImpl::of(alias_).autograd = Ref<AutogradMeta>(node_.get());
  graph_alias = &alias_;
  const auto guard = lock();
  node_->slot = this;
}

GradientSlot::~GradientSlot() {
  const auto guard = lock();
  node_->slot = nullptr;
}

std::unique_lock<std::mutex> GradientSlot::lock() {
  static constinit std::mutex mutex;
  return std::unique_lock(mutex);
}

void GradientSlot::check_gradient(const Node& node, const Tensor& g) {
  if (!g.requires_grad()) return;
  const auto guard = lock();
  check_in(
      node.name, !node.slot || !node.slot->created_after_save, "the gradient of a tensor of shape ",
      node.shape,
      " has a history and could never be freed, because an operation had saved the tensor before "
      "retain_grad() was called; call it before the tensor is used, or use grad(outputs, {tensor}, true) "
      "instead");
}

}  // namespace heed
