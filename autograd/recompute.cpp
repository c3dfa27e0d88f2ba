#include "autograd/recompute.h"

namespace heed {
namespace {

// The graph node of a tensor without values, and how to compute them.
class WithoutValues : public AutogradMeta {
 public:
  WithoutValues(Ref<Node> node, std::shared_ptr<const Recomputation> source)
      : AutogradMeta(node.get()), source(std::move(source)), node_(std::move(node)) {}

  const std::shared_ptr<const Recomputation> source;

 private:
  const Ref<Node> node_;
};

const WithoutValues& meta_of(const Tensor& x) {
  return static_cast<const WithoutValues&>(*TensorImpl::of(x).autograd);
}

}  // namespace

Tensor detail::without_values(const Tensor& x, const Node& node) {
  const bool unchanged = TensorImpl::of(x).storage->version == node.result_version;
  if (!node.joint || !unchanged || node.joint->source->depth >= Recomputation::kMaxRecomputeDepth)
    return Tensor();
  Tensor y = x.detach();
  TensorImpl& impl = TensorImpl::of(y);
  impl.storage = {};
  impl.autograd = Ref<AutogradMeta>(new WithoutValues(Ref<Node>(node.node), node.joint->source));
  return y;
}

void detail::restore_values(const Tensor& x) {
  const std::shared_ptr<const Recomputation> source = meta_of(x).source;
  const OpScope scope(source->name, source->line, OpScope::Role::rule);
  const NoGrad guard;
  std::vector<Tensor> inputs;
  for (const Saved& input : source->inputs) inputs.push_back(input());
  TensorImpl& impl = TensorImpl::of(x);
  impl.storage = TensorImpl::of(source->compute(inputs)).storage;
  impl.autograd = Ref<AutogradMeta>(meta_of(x).node);
}

int64_t detail::recompute_depth(const Tensor& x) {
  return x.defined() && !TensorImpl::of(x).storage ? meta_of(x).source->depth : 0;
}

// A view, so that x itself may get a gradient slot later, or a tensor without values if they can be computed
// again.
Tensor Saved::held_view(const Tensor& x) {
  if (!x.requires_grad()) return x.detach();
  if (Tensor y = detail::without_values(x, *Node::of(x)); y.defined()) return y;
  TensorImpl::of(x).autograd->saved = true;
  return x;
}

int64_t Saved::recompute_depth() const { return detail::recompute_depth(tensor_); }

void Saved::recompute() const {
  detail::restore_values(tensor_);
  version_ = TensorImpl::of(tensor_).storage->version;
}

}  // namespace heed
