#include "autograd/recompute.h"

#include "autograd/engine.h"
#include "autograd/ops/shape.h"

namespace heed {
namespace {

// The graph node of a tensor without values, and how to compute them.
struct WithoutValues : AutogradMeta {
  explicit WithoutValues(Node* of) : AutogradMeta(of) {}

  const Ref<Node> owned{node};
  const std::shared_ptr<const Recomputation> source = node->joint->source;
};

const WithoutValues& meta_of(const Tensor& x) {
  return static_cast<const WithoutValues&>(*TensorImpl::of(x).autograd);
}

}  // namespace

// A view, so that x itself may get a gradient slot later, or a tensor without values, which recompute()
// computes again. The latter is impossible if x was written into, its graph was released, or the depth is
// reached.
Tensor Saved::held_view(const Tensor& x) {
  if (!x.requires_grad()) return x.detach();
  const Node& node = *Node::of(x);
  const bool unchanged = TensorImpl::of(x).storage->version == node.result_version;
  if (!node.joint || !unchanged || node.joint->source->depth >= Recomputation::kMaxRecomputeDepth) {
    TensorImpl::of(x).autograd->saved = true;
    return x;
  }
  Tensor y = x.detach();
  TensorImpl& impl = TensorImpl::of(y);
  impl.storage = {};
  impl.autograd = Ref<AutogradMeta>(new WithoutValues(node.node));
  return y;
}

int64_t Saved::recompute_depth() const {
  return tensor_.defined() && !TensorImpl::of(tensor_).storage ? meta_of(tensor_).source->depth : 0;
}

void Saved::recompute() const {
  const WithoutValues& meta = meta_of(tensor_);
  const OpScope scope(meta.node->name, meta.node->line, OpScope::Role::rule);
  const NoGrad guard;
  const std::vector<Tensor> inputs = detail::mapped(meta.source->inputs, &Saved::operator());
  TensorImpl& impl = TensorImpl::of(tensor_);
  impl.storage = TensorImpl::of(meta.source->compute(inputs)).storage;
  impl.autograd = Ref<AutogradMeta>(meta.node);  // destroys `meta`
  version_ = impl.storage->version;
}

void Saved::throw_overwritten() const {
  const OpScope* rule = OpScope::rule();
  const Storage& storage = *TensorImpl::of(tensor_).storage;
  fail_in(rule ? rule->name : "a gradient rule", "a tensor of shape ", tensor_.shape(), ", saved ",
          at(rule ? rule->line : SourceLocation()), " for the gradient, was overwritten by ", storage.writer,
          " ", at(storage.writer_line), "; write into a clone, or after backward()");
}

// The gradients by the joint rule, or by the reference implementation if they may be differentiated again:
// see Note [Reference implementations] in autograd/node.h.
Gradients Node::joint_gradients(const Tensor& g) {
  if (!joint->reference || !grad_enabled())
    return joint->rule(g, result.defined() ? result_with_graph() : Tensor());
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
