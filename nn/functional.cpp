#include "nn/functional.h"

#include "autograd/node.h"
#include "autograd/ops.h"
#include "tensor/aligned.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/loss.h"

namespace heed::F {
namespace {

// The scope of a loss whose input and target must have the same shape and dtype.
struct LossScope : OpScope {
  LossScope(const char* name, const Operand& input, const Operand& target) : OpScope(name, input.line()) {
    check_floating(input);
    check(input->shape() == target->shape(), "input is ", input->shape(), ", target is ", target->shape(),
          "; they must be equal, a loss broadcasts nothing (view or squeeze one of them)",
          Aligned{"input", input->shape(), "target", target->shape(), Aligned::Marks::unequal});
    check(input->dtype() == target->dtype(), "input is ", input->dtype(), ", target is ", target->dtype(),
          "; convert the target with to(target, ", input->dtype(), ")");
  }
};

Tensor reduce(Tensor losses, Reduction reduction, const Tensor& weight = {}) {
  check(reduction != Reduction::batchmean, "the reduction is none, mean or sum; batchmean belongs to kl_div");
  if (weight.defined()) losses = losses * weight;
  if (reduction == Reduction::none) return losses;
  return reduction == Reduction::mean ? mean(losses) : sum(losses);
}

void check_weight(const char* name, const Tensor& weight, const Operand& input) {
  if (!weight.defined()) return;
  check(broadcast_shapes(weight.shape(), input->shape(), name, "input") == input->shape(), name, " is ",
        weight.shape(), ", input is ", input->shape(), "; ", name, " must broadcast to the input");
}

// By default the classes are in dimension 1 of [N, C, d...], or in [C].
int64_t default_class_dim(const Operand& input) { return input->dim() > 1 ? 1 : 0; }

}  // namespace

Tensor dropout(Operand x, double p, bool training, Generator* generator) {
  const OpScope scope("dropout", x.line());
  check_floating(x);
  check_dropout("dropout", "p", p);
  if (!training || p == 0) return x.tensor();
  return x * dropout_mask(x->shape(), DropoutFactors(p, x->numel(), generator), x->dtype());
}

Tensor mse_loss(Operand input, Operand target, Reduction reduction) {
  const LossScope scope("mse_loss", input, target);
  return reduce(square(input - target), reduction);
}

Tensor l1_loss(Operand input, Operand target, Reduction reduction) {
  const LossScope scope("l1_loss", input, target);
  return reduce(abs(input - target), reduction);
}

// c (d - c / 2) with d = |x| and c = min(d, delta): d^2 / 2 below delta, delta (d - delta / 2) above. Does
// not square a large d, which could overflow.
static Tensor huber(const Tensor& x, double delta) {
  const Tensor d = abs(x), c = clamp(d, {}, delta);
  return c * (d - 0.5 * c);
}

Tensor smooth_l1_loss(Operand input, Operand target, Reduction reduction, double beta) {
  const LossScope scope("smooth_l1_loss", input, target);
  check(beta >= 0, "beta is ", beta, "; it must not be negative");
  if (beta == 0) return l1_loss(input, target, reduction);
  return reduce(huber(input - target, beta) / beta, reduction);
}

Tensor huber_loss(Operand input, Operand target, Reduction reduction, double delta) {
  const LossScope scope("huber_loss", input, target);
  check(delta > 0, "delta is ", delta, "; it must be positive");
  return reduce(huber(input - target, delta), reduction);
}

Tensor entmax_loss(Operand input, Operand target, double alpha, Reduction reduction) {
  const OpScope scope("entmax_loss", input.line());
  check(alpha > 1, "alpha is ", alpha, "; it must be above 1 (for 1 it is cross_entropy)");
  detail::check_class_targets(input, target, detail::check_class_dim(input, {.class_dim = -1}, -1));
  const Tensor x = input->detach(), p = entmax(x, alpha);
  const Tensor losses = (1 - sum(pow(p, alpha), -1)) / (alpha * (alpha - 1)) + sum(p * x, -1) -
                        squeeze(gather(x, -1, unsqueeze(target, -1)), -1);
  const Tensor y = record(
      "entmax_loss", losses,
      {{input, "g (entmax $1 − one-hot)", [alpha, x = save(input), target = save(target)](const Tensor& g) {
          return unsqueeze(g, -1) * (entmax(x(), alpha) - to(one_hot(target(), x().size(-1)), x().dtype()));
        }}});
  return reduce(y, reduction);
}

Tensor kl_div(Operand input, Operand target, const KlDivOptions& options) {
  const LossScope scope("kl_div", input, target);
  // 0 log 0 is 0.
  const Tensor losses = options.log_target ? exp(target) * (target - input)
                                           : target * (log(where(target == 0, 1, target)) - input);
  if (options.reduction != Reduction::batchmean) return reduce(losses, options.reduction);
  return sum(losses) / static_cast<double>(input->dim() > 0 ? input->size(0) : 1);
}

Tensor binary_cross_entropy(Operand input, Operand target, const BceOptions& options) {
  const LossScope scope("binary_cross_entropy", input, target);
  check_weight("weight", options.weight, input);
  check(!options.pos_weight.defined(), "pos_weight needs logits");
  check(input->numel() == 0 || (min(input).item() >= 0 && max(input).item() <= 1),
        "the input must be probabilities, in [0, 1]; for logits take binary_cross_entropy_with_logits");
  // Below exp(-100) the logarithm continues as a line of slope 1e12. The loss stays finite (infinity times 0
  // is NaN), and its gradient is not 0, so the model still learns.
  const Tensor zero = input < std::exp(-100.0), one = input == 1;
  const Tensor log_input = where(zero, 1e12 * input - 100, log(where(zero, 1, input)));
  const Tensor log_rest = where(one, 1e12 * (1 - input) - 100, log1p(-where(one, 0, input)));
  return reduce((target - 1) * log_rest - target * log_input, options.reduction, options.weight);
}

// -log sigmoid(x) = softplus(-x) and -log(1 - sigmoid(x)) = x + softplus(-x), so the loss is
// (1 - t) x + (1 + (p - 1) t) softplus(-x).
Tensor binary_cross_entropy_with_logits(Operand input, Operand target, const BceOptions& options) {
  const LossScope scope("binary_cross_entropy_with_logits", input, target);
  check_weight("weight", options.weight, input);
  check_weight("pos_weight", options.pos_weight, input);
  Tensor positive = softplus(-input, 1, 40);  // from 40 on, softplus and its limit x are equal in float64
  if (options.pos_weight.defined()) positive = (1 + (options.pos_weight - 1) * target) * positive;
  return reduce((1 - target) * input + positive, options.reduction, options.weight);
}

Tensor nll_loss(Operand input, Operand target, const CrossEntropyOptions& options) {
  const OpScope scope("nll_loss", input.line());
  check(options.label_smoothing == 0, "label_smoothing is for cross_entropy");
  const int64_t dim = detail::check_class_dim(input, options, default_class_dim(input));
  detail::check_class_targets(input, target, dim);
  kernel::total_weight({kernel::contiguous(target), {}, options.ignore_index, 0}, input->size(dim));

  const Tensor counts = target != options.ignore_index, index = where(counts, target, 0);
  Tensor weight = to(counts, input->dtype());
  if (options.weight.defined()) weight = weight * options.weight[index];
  const Tensor picked = squeeze(gather(input, dim, unsqueeze(index, dim)), dim);
  const Tensor losses = where(counts, -picked * weight, 0);
  return options.reduction == Reduction::mean ? sum(losses) / sum(weight) : reduce(losses, options.reduction);
}

Tensor cross_entropy(Operand input, Operand target, const CrossEntropyOptions& options) {
  const OpScope scope("cross_entropy", input.line());
  const int64_t dim = detail::check_class_dim(input, options, default_class_dim(input));
  if (!is_floating(target->dtype())) {
    CrossEntropyOptions with_dim = options;
    with_dim.class_dim = dim;
    return softmax_cross_entropy(input, target, with_dim);
  }

  check(target->dim() == input->dim(), "input is ", input->shape(), ", target is ", target->dtype(), " ",
        target->shape(), "; numbers of classes are int64, convert with to(target, int64); probabilities of ",
        "classes have the input's shape");
  const LossScope of_probabilities("cross_entropy", input, target);
  const double s = options.label_smoothing;
  Tensor q = s > 0 ? target * (1 - s) + s / static_cast<double>(input->size(dim)) : target.tensor();
  if (options.weight.defined())
    q = q * reshape(options.weight, Shape::filled(input->dim(), 1).with(dim, input->size(dim)));
  return reduce(-sum(q * log_softmax(input, dim), dim), options.reduction);
}

}  // namespace heed::F
