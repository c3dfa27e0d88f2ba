// The members of Tensor that need the engine.
#include "autograd/engine.h"
#include "autograd/gradient_slot.h"

namespace heed {

const Tensor& Tensor::requires_grad_(bool requires_grad, SourceLocation line) const& {
  if (requires_grad == this->requires_grad()) return *this;
  const OpScope scope("requires_grad_", line);
  check(!this->requires_grad() || is_leaf(), "a tensor computed by ",
        requires_grad ? "" : Node::of(*this)->name, " has a history; take detach() of it");
  check(!requires_grad || is_floating(dtype()), "x is ", dtype(), " ", shape(),
        "; only floating tensors have gradients, convert with to(x, float32)");
  TensorImpl::of(*this).autograd = Ref<AutogradMeta>(
      requires_grad ? new GradientSlot(*this, Ref<Node>(&Node::make("leaf", *this))) : nullptr);
  return *this;
}

bool Tensor::is_leaf() const { return !requires_grad() || Node::of(*this)->is_leaf(); }

Tensor Tensor::grad() const {
  if (!requires_grad()) return Tensor();
  const auto lock = GradientSlot::lock();
  return GradientSlot::gradient(*Node::of(*this));
}

void Tensor::set_grad(const Tensor& grad) const {
  check(requires_grad(), "set_grad: a tensor of shape ", shape(), " does not require a gradient");
  check(!grad.defined() || (grad.shape() == shape() && grad.dtype() == dtype()), "set_grad: the tensor is ",
        dtype(), " ", shape(), " and its gradient ",
        grad.defined() ? to_string(grad.dtype()) + " " + to_string(grad.shape()) : "");
  GradientSlot::check_gradient(*Node::of(*this), grad);
  Tensor before = grad;
  const auto lock = GradientSlot::lock();
  GradientSlot::swap_gradient(*Node::of(*this), before);
}

void Tensor::retain_grad() const {
  check(requires_grad(), "retain_grad: a tensor of shape ", shape(), " does not require a gradient");
  if (is_leaf()) return;  // which does so anyway
  Node& node = *Node::of(*this);
  node.retains_grad = true;
  if (!node.slot)
    TensorImpl::of(*this).autograd = Ref<AutogradMeta>(new GradientSlot(*this, Ref<Node>(&node)));
}

void Tensor::backward(SourceLocation line) const { heed::backward({*this}, {}, line); }

void Tensor::backward(const Tensor& gradient, bool retain_graph, bool create_graph,
                      SourceLocation line) const {
  heed::backward({*this}, {{gradient}, create_graph, retain_graph}, line);
}

HookHandle Tensor::register_hook(std::function<Tensor(const Tensor&)> hook) const {
  check(requires_grad(), "register_hook: a tensor of shape ", shape(), " does not require a gradient");
  Node& node = *Node::of(*this);
  if (!node.hooks) node.hooks = std::make_unique<Hooks<std::function<Tensor(const Tensor&)>>>();
  return node.hooks->add(std::move(hook));
}

}  // namespace heed
