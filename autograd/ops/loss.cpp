#include "tensor/kernels/loss.h"

#include "autograd/node.h"
#include "autograd/ops/index.h"
#include "autograd/ops/logic.h"
#include "autograd/ops/loss.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"
#include "autograd/ops/softmax.h"
#include "tensor/create.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/map.h"
#include "tensor/kernels/reduce.h"

namespace heed {
namespace {

// q [..., C] with loss = -sum_j q_j log p_j: the weighted and smoothed share of each class in the target.
Tensor class_shares(const kernel::ClassTargets& targets, int64_t classes, DType dtype) {
  const Tensor counts = targets.target != targets.ignore_index;
  const Tensor exact = to(one_hot(where(counts, targets.target, 0), classes), dtype);
  const double s = targets.smoothing;
  const Tensor w = targets.weight.defined() ? targets.weight : full({classes}, 1, dtype);
  const Tensor picked = sum(exact * w, -1, true);  // w_t
  const Tensor shares = (1 - s) * picked * exact + s / static_cast<double>(classes) * w;
  return where(unsqueeze(counts, -1), shares, 0);
}

}  // namespace

// loss_r = -sum_j q_rj log p_rj with p = softmax(x), q constant; reduced by sum_r loss_r / total
//
//   x        [..., C], or with the classes elsewhere, a permuted view
//   target   [...]                          returns [...], or one number
//
//   dx = g (p sum_j q_j - q)
Tensor softmax_cross_entropy(Operand x, Operand target, const CrossEntropyOptions& options) {
  const OpScope scope("softmax_cross_entropy", x.line());
  check_floating(x);
  check_indices(target);
  if (options.class_dim && x->dim() > 1) {
    const int64_t from = check_dim(x, *options.class_dim);
    Shape order = check_dims(x->dim(), {});
    order.erase(from);
    order.push_back(from);
    if (from != x->dim() - 1) x.become(permute(x, order));
  }
  const Tensor& w = options.weight;
  const double s = options.label_smoothing;
  const int64_t classes = x->dim() > 0 ? x->shape().back() : 0;
  check(x->dim() > 0 && target->shape() == Shape(x->shape().data(), x->dim() - 1), "the logits are ",
        x->shape(), ", the targets ", target->shape(), "; there must be one target for each row of classes");
  check(s >= 0 && s <= 1, "label_smoothing is ", s, "; it lies in [0, 1]");
  check(!w.defined() || (w.shape() == Shape{classes} && w.dtype() == x->dtype()), "the weight is ",
        w.defined() ? w.dtype() : x->dtype(), " ", w.defined() ? w.shape() : Shape{}, " and must be ",
        x->dtype(), " ", Shape{classes}, ", one for each class");
  check(!w.requires_grad(), "class weights have no gradient; pass weight.detach()");
  const Reduction reduction = options.reduction;
  check(reduction != Reduction::batchmean, "the reduction is none, mean or sum");

  const kernel::ClassTargets targets{kernel::contiguous(target), kernel::contiguous(w), options.ignore_index,
                                     s};
  const double weights = kernel::total_weight(targets, classes);
  const double total = reduction == Reduction::mean ? weights : 1;
  if (reference_mode()) {
    const Tensor q = class_shares(targets, classes, x->dtype());
    const Tensor loss = -sum(where(q == 0, 0, q * log_softmax(x, -1)), -1);
    return reduction == Reduction::none ? loss : sum(loss) / total;
  }

  const Tensor logits = kernel::contiguous(x);
  kernel::CrossEntropy forward = kernel::cross_entropy(logits, targets);
  Tensor loss = std::exchange(forward.loss, Tensor());
  if (reduction != Reduction::none)
    loss = kernel::map(kernel::sum(loss, check_dims(loss.dim(), {}), false),
                       [total](auto sum) { return sum / static_cast<decltype(sum)>(total); });
  auto rule = [x = save(x), target = save(targets.target), weight = save(targets.weight), forward, s,
               reduction, total, ignore_index = options.ignore_index](const Tensor& g) {
    const kernel::ClassTargets saved{target(), weight(), ignore_index, s};
    const Tensor rows = reduction == Reduction::none ? g : expand(g / total, saved.target.shape());
    if (!grad_enabled())
      return kernel::cross_entropy_backward(kernel::contiguous(rows), kernel::contiguous(x()), forward,
                                            saved);
    const Tensor q = class_shares(saved, x().shape().back(), x().dtype());
    return unsqueeze(rows, -1) * (softmax(x(), -1) * sum(q, -1, true) - q);
  };
  return record("cross_entropy", loss, {{x, std::move(rule)}});
}

}  // namespace heed
