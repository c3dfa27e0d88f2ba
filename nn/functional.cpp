#include "nn/functional.h"

#include "autograd/ops.h"
#include "tensor/aligned.h"

namespace heed::F {
namespace {

// The scope of a loss that wants one shape and dtype.
struct Loss : OpScope {
  Loss(const char* name, const Operand& input, const Operand& target) : OpScope(name, input.line()) {
    check_floating(input);
    check(input->shape() == target->shape(), "input is ", input->shape(), ", target is ", target->shape(),
          "; they must be equal, a loss broadcasts nothing (view or squeeze one of them)",
          Aligned{"input", input->shape(), "target", target->shape(), Aligned::Marks::unequal});
    check(input->dtype() == target->dtype(), "input is ", input->dtype(), ", target is ", target->dtype(),
          "; convert the target with to(target, ", input->dtype(), ")");
  }
};

Tensor reduce(Tensor each, Reduction reduction, const Tensor& weight = {}) {
  check(reduction != Reduction::batchmean, "the reduction is none, mean or sum; batchmean belongs to kl_div");
  if (weight.defined()) each = each * weight;
  if (reduction == Reduction::none) return each;
  return reduction == Reduction::mean ? mean(each) : sum(each);
}

void check_weight(const char* name, const Tensor& weight, const Operand& input) {
  if (!weight.defined()) return;
  const Shape joint = broadcast_shapes(weight.shape(), input->shape(), name, "input");
  check(joint == input->shape(), name, " is ", weight.shape(), ", input is ", input->shape(), "; ", name,
        " must broadcast to the input");
}

// Where the classes are in [N, C, d...] or [C], unless something else is said.
int64_t class_dim(const Operand& input, std::optional<int64_t> said) {
  check_floating(input);
  check(input->dim() > 0, "the input is one number; it must have a dimension of classes");
  return check_dim(input, said.value_or(input->dim() > 1 ? 1 : 0));
}

void check_class_weight(const CrossEntropyOptions& options, int64_t classes) {
  if (options.weight.defined())
    check(options.weight.shape() == Shape{classes}, "the weight is ", options.weight.shape(), " and must be ",
          Shape{classes}, ", one for each class");
}

void check_classes(const Operand& input, const Operand& target, int64_t dim) {
  Shape rest = input->shape();
  rest.erase(dim);
  check(target->shape() == rest, "input is ", input->shape(), ", target is ", target->shape(),
        "; with classes in dimension ", dim, " the target must be ", rest,
        "; class_dim = -1 says that the last has them");
}

}  // namespace

Tensor dropout(Operand x, double p, bool training, Generator* generator) {
  const OpScope scope("dropout", x.line());
  check_floating(x);
  check_dropout("dropout", "p", p);
  if (!training || p == 0) return x.tensor();
  return x * dropout_mask(x->shape(), DropoutFactors(p, x->numel(), generator), x->dtype());
}

Tensor mse_loss(Operand input, Operand target, Reduction reduction) {
  const Loss here("mse_loss", input, target);
  return reduce(square(input - target), reduction);
}

Tensor l1_loss(Operand input, Operand target, Reduction reduction) {
  const Loss here("l1_loss", input, target);
  return reduce(abs(input - target), reduction);
}

// With d = |x| and c = min(d, delta) it is c (d - c / 2): d^2 / 2 below delta, delta (d - delta / 2) from
// there on. No branch that is not taken has a square to overflow.
static Tensor huber(const Tensor& x, double delta) {
  const Tensor d = abs(x), c = clamp(d, {}, delta);
  return c * (d - 0.5 * c);
}

Tensor smooth_l1_loss(Operand input, Operand target, Reduction reduction, double beta) {
  const Loss here("smooth_l1_loss", input, target);
  check(beta >= 0, "beta is ", beta, "; it must not be negative");
  if (beta == 0) return l1_loss(input, target, reduction);
  return reduce(huber(input - target, beta) / beta, reduction);
}

Tensor huber_loss(Operand input, Operand target, Reduction reduction, double delta) {
  const Loss here("huber_loss", input, target);
  check(delta > 0, "delta is ", delta, "; it must be positive");
  return reduce(huber(input - target, delta), reduction);
}

Tensor kl_div(Operand input, Operand target, const KlDivOptions& options) {
  const Loss here("kl_div", input, target);
  // 0 log 0 is 0.
  const Tensor each = options.log_target ? exp(target) * (target - input)
                                         : target * (log(where(target == 0, 1, target)) - input);
  if (options.reduction != Reduction::batchmean) return reduce(each, options.reduction);
  return sum(each) / static_cast<double>(input->dim() > 0 ? input->size(0) : 1);
}

Tensor binary_cross_entropy(Operand input, Operand target, const BceOptions& options) {
  const Loss here("binary_cross_entropy", input, target);
  check_weight("weight", options.weight, input);
  check(!options.pos_weight.defined(), "pos_weight needs logits");
  check(input->numel() == 0 || (min(input).item() >= 0 && max(input).item() <= 1),
        "the input must be probabilities, in [0, 1]; for logits take binary_cross_entropy_with_logits");
  // No logarithm is below -100, where its slope is 1e12: neither infinite, which times 0 would be NaN, nor 0,
  // from where nothing is learnt.
  const Tensor none = input < std::exp(-100.0), certain = input == 1;
  const Tensor log_input = where(none, 1e12 * input - 100, log(where(none, 1, input)));
  const Tensor log_rest = where(certain, 1e12 * (1 - input) - 100, log1p(-where(certain, 0, input)));
  const Tensor each = (target - 1) * log_rest - target * log_input;
  return reduce(each, options.reduction, options.weight);
}

// -log sigmoid(x) = softplus(-x) and -log(1 - sigmoid(x)) = x + softplus(-x), so the loss is
// (1 - t) x + (1 + (p - 1) t) softplus(-x).
Tensor binary_cross_entropy_with_logits(Operand input, Operand target, const BceOptions& options) {
  const Loss here("binary_cross_entropy_with_logits", input, target);
  check_weight("weight", options.weight, input);
  check_weight("pos_weight", options.pos_weight, input);
  Tensor wrong = softplus(-input, 1, 40);  // at 40 the formula and its limit agree to the last bit
  if (options.pos_weight.defined()) wrong = (1 + (options.pos_weight - 1) * target) * wrong;
  return reduce((1 - target) * input + wrong, options.reduction, options.weight);
}

Tensor nll_loss(Operand input, Operand target, const CrossEntropyOptions& options) {
  const OpScope scope("nll_loss", input.line());
  check_indices(target);
  check(options.label_smoothing == 0, "label_smoothing is for cross_entropy");
  const int64_t dim = class_dim(input, options.class_dim), classes = input->shape()[dim];
  check_classes(input, target, dim);
  check_class_weight(options, classes);

  const Tensor counts = target != options.ignore_index;
  const Tensor valid = logical_and(target >= 0, target < classes);
  check(all(logical_or(valid, logical_not(counts))).item<bool>(), "the classes are 0 to ", classes - 1,
        " and a target is none of them; targets that do not count are ", options.ignore_index,
        " (ignore_index)");
  const Tensor safe = where(counts, target, 0);
  Tensor weight = to(counts, input->dtype());
  if (options.weight.defined()) weight = weight * options.weight[safe];
  const Tensor picked = squeeze(gather(input, dim, unsqueeze(safe, dim)), dim);
  const Tensor each = where(counts, -picked * weight, 0);
  if (options.reduction == Reduction::mean) return sum(each) / sum(weight);
  return reduce(each, options.reduction);
}

Tensor cross_entropy(Operand input, Operand target, const CrossEntropyOptions& options) {
  const OpScope scope("cross_entropy", input.line());
  const int64_t dim = class_dim(input, options.class_dim);
  if (!is_floating(target->dtype())) {
    check_classes(input, target, dim);
    CrossEntropyOptions there = options;
    there.class_dim = dim;
    return softmax_cross_entropy(input, target, there);
  }

  check(target->dim() == input->dim(), "input is ", input->shape(), ", target is ", target->dtype(), " ",
        target->shape(),
        "; numbers of classes are int64, convert with to(target, int64); probabilities of classes "
        "have the input's shape");
  const Loss of_probabilities("cross_entropy", input, target);
  const int64_t classes = input->shape()[dim];
  check_class_weight(options, classes);
  const double s = options.label_smoothing;
  check(s >= 0 && s <= 1, "label_smoothing is ", s, "; it lies in [0, 1]");
  Tensor shares = s > 0 ? target * (1 - s) + s / static_cast<double>(classes) : target.tensor();
  if (options.weight.defined()) {
    Shape along = Shape::filled(input->dim(), 1);
    along[dim] = classes;
    shares = shares * reshape(options.weight, along);
  }
  return reduce(-sum(shares * log_softmax(input, dim), dim), options.reduction);
}

}  // namespace heed::F
