#include "autograd/ops/loss.h"

#include "autograd/node.h"
#include "autograd/ops/basic.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/loss.h"
#include "tensor/kernels/map.h"
#include "tensor/kernels/reduce.h"

namespace heed {

// q [..., C] with loss = -sum_c q_c log p_c: the targets as weighted and smoothed distributions.
static Tensor class_distributions(const kernel::ClassTargets& targets, int64_t classes, DType dtype) {
  const Tensor counts = targets.target != targets.ignore_index;
  const Tensor exact = to(one_hot(where(counts, targets.target, 0), classes), dtype);
  const double s = targets.smoothing;
  const Tensor w = targets.weight.defined() ? targets.weight : full({classes}, 1, dtype);
  const Tensor picked = sum(exact * w, -1, true);  // w_t
  const Tensor q = (1 - s) * picked * exact + s / static_cast<double>(classes) * w;
  return where(unsqueeze(counts, -1), q, 0);
}

int64_t detail::check_class_dim(const Operand& x, const CrossEntropyOptions& options, int64_t otherwise) {
  check_floating(x);
  check(x->dim() > 0, "the input is one number; it must have a dimension of classes");
  const int64_t dim = check_dim(x, options.class_dim.value_or(otherwise));
  const double s = options.label_smoothing;
  check(s >= 0 && s <= 1, "label_smoothing is ", s, "; it lies in [0, 1]");
  if (const Tensor& w = options.weight; w.defined())
    check(w.shape() == Shape{x->size(dim)} && w.dtype() == x->dtype(), "the weight is ", w.dtype(), " ",
          w.shape(), " and must be ", x->dtype(), " ", Shape{x->size(dim)}, ", one for each class");
  return dim;
}

void detail::check_class_targets(const Operand& x, const Operand& target, int64_t class_dim) {
  check_indices(target);
  const Shape rows = x->shape().erased(class_dim);
  check(target->shape() == rows, "input is ", x->shape(), ", target is ", target->shape(),
        "; with classes in dimension ", class_dim, " the target must be ", rows,
        "; class_dim = -1 says that the last has them");
}

// loss_r = -sum_c q_rc log p_rc with p = softmax(x), q constant; reduced by sum_r loss_r / total
//
//   x        [..., C]
//   target   [...]                          returns [...], or one number
//
//   dx = g (p sum_c q_c - q)
Tensor softmax_cross_entropy(Operand x, Operand target, const CrossEntropyOptions& options) {
  const OpScope scope("softmax_cross_entropy", x.line());
  const Reduction reduction = options.reduction;
  check(reduction != Reduction::batchmean, "the reduction is none, mean or sum");
  check(!options.weight.requires_grad(), "class weights have no gradient; pass weight.detach()");
  const int64_t dim = detail::check_class_dim(x, options, -1), classes = x->size(dim);
  detail::check_class_targets(x, target, dim);
  if (const int64_t last = x->dim() - 1; dim != last)
    x.assign(permute(x, check_dims(x->dim(), {}).erased(dim).inserted(last, dim)));

  const kernel::ClassTargets targets{kernel::contiguous(target), kernel::contiguous(options.weight),
                                     options.ignore_index, options.label_smoothing};
  const double counted = kernel::total_weight(targets, classes);  // throws for a target that is no class
  const double total = reduction == Reduction::mean ? counted : 1;
  if (reference_mode()) {
    const Tensor q = class_distributions(targets, classes, x->dtype());
    const Tensor counts = unsqueeze(targets.target != targets.ignore_index, -1);
    const Tensor log_p = log_softmax(where(counts, x, 0), -1);  // ignored logits may be infinite or NaN
    const Tensor loss = -sum(where(q == 0, 0, q * log_p), -1);
    return reduction == Reduction::none ? loss : sum(loss) / total;
  }

  kernel::CrossEntropy forward = kernel::cross_entropy(kernel::contiguous(x), targets);
  Tensor loss = std::exchange(forward.loss, Tensor());
  if (reduction != Reduction::none)
    loss = kernel::map(kernel::sum(loss, check_dims(loss.dim(), {}), false),
                       [total](auto sum) { return sum / static_cast<decltype(sum)>(total); });
  auto rule = [x = save(x), target = save(targets.target), weight = save(targets.weight), forward, reduction,
               total, ignore_index = options.ignore_index, s = options.label_smoothing](const Tensor& g) {
    const kernel::ClassTargets saved{target(), weight(), ignore_index, s};
    const Tensor rows = reduction == Reduction::none ? g : expand(g / total, saved.target.shape());
    if (!grad_enabled())
      return kernel::cross_entropy_backward(kernel::contiguous(rows), kernel::contiguous(x()), forward,
                                            saved);
    const Tensor q = class_distributions(saved, x().shape().back(), x().dtype());
    return unsqueeze(rows, -1) * (softmax(x(), -1) * sum(q, -1, true) - q);
  };
  constexpr const char* names[] = {"none", "mean", "sum"};
  return record("cross_entropy", loss,
                {{x, "g (softmax($1) − target), over their number in a mean", std::move(rule)}},
                {{"target", target},
                 {"weight", options.weight},
                 {"ignore_index", options.ignore_index},
                 {"reduction", names[static_cast<int>(reduction)]},
                 {"label_smoothing", options.label_smoothing}});
}

}  // namespace heed
