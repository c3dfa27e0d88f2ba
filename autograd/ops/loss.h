#pragma once

#include "autograd/operand.h"

/// Losses with a kernel of their own. nn/functional.h composes the others from operations.
namespace heed {

/// How the losses of all elements become one number: none keeps them, batchmean is the sum divided by the
/// size of dimension 0.
enum class Reduction { none, mean, sum, batchmean };
/// Options of cross_entropy, nll_loss and softmax_cross_entropy.
struct CrossEntropyOptions {
  Tensor weight = {};                     ///< [C], one for each class
  int64_t ignore_index = -100;            ///< rows with this target count for nothing
  Reduction reduction = Reduction::mean;  ///< not batchmean
  double label_smoothing = 0;             ///< share of each target that is spread evenly over all classes
  std::optional<int64_t> class_dim = {};  ///< dimension of the classes; the default depends on the function
};
/// -weight[target] log_softmax(x)[target], in one pass over the logits. With label_smoothing s each target is
/// a distribution over all C classes:
///
///   -sum_c q_c log_softmax(x)_c,   q_c = (1 - s) weight[target] [c == target] + weight[c] s / C
///
///   x        [..., C], or with the classes in dimension class_dim
///   target   [...] int64 in [0, C), or ignore_index
///   returns  [...], or one number: the sum, or the mean over the weights of the targets that count
///
/// Errors: shapes that do not fit; a target that is no class; label_smoothing outside of [0, 1]; a weight
/// that requires a gradient.
Tensor softmax_cross_entropy(Operand x, Operand target, const CrossEntropyOptions& options = {});
namespace detail {
/// The dimension of the classes, `otherwise` if the options do not say. Throws unless x has it and the
/// options fit x.
int64_t check_class_dim(const Operand& x, const CrossEntropyOptions& options, int64_t otherwise);
/// Throws unless target has one class for each row of x.
void check_class_targets(const Operand& x, const Operand& target, int64_t class_dim);
}  // namespace detail

}  // namespace heed
