#pragma once

#include <optional>

#include "autograd/operand.h"

/// Losses that are operations; the others are made of these, see nn/functional.h.
namespace heed {

/// How a loss for each element becomes one number: not at all, by the mean, by the sum, or by batchmean, the
/// sum over the size of dimension 0.
enum class Reduction { none, mean, sum, batchmean };
/// Choices of cross_entropy, nll_loss and softmax_cross_entropy.
struct CrossEntropyOptions {
  Tensor weight = {};                     ///< [C], one for each class
  int64_t ignore_index = -100;            ///< targets of this value count for nothing
  Reduction reduction = Reduction::mean;  ///< not batchmean
  double label_smoothing = 0;             ///< this share of each target is spread evenly over all classes
  std::optional<int64_t> class_dim = {};  ///< where the classes are; without: see who takes the options
};
/// -weight[target] log_softmax(x)[target], in one pass over the logits. With label_smoothing s the target is
/// a little of every class c of C:
///
///   -sum_c q_c log_softmax(x)_c,   q_c = (1 - s) weight[target] [c == target] + weight[c] s / C
///
///   x        [..., C], or with the classes in dimension class_dim
///   target   [...] int64 in [0, C), or ignore_index
///   returns  [...], or one number: the sum, or the mean over the weights of the targets that count
///
/// Errors: shapes that do not fit, label_smoothing outside of [0, 1], a weight that requires a gradient.
Tensor softmax_cross_entropy(Operand x, Operand target, const CrossEntropyOptions& options = {});

}  // namespace heed
