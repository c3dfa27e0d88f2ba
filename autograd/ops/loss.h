#pragma once

#include <cstdint>

#include "autograd/operand.h"

/// Losses that are operations; the others are made of these, see nn/functional.h.
namespace heed {

/// How a loss for each element becomes one number; batchmean is the sum over the size of dimension 0.
enum class Reduction { none, mean, sum, batchmean };
struct SoftmaxCrossEntropyOptions {
  Tensor weight = {};  // [C], one for each class
  int64_t ignore_index = -100;
  double label_smoothing = 0;
  Reduction reduction = Reduction::mean;  // over the weights of the targets that count
};
/// -weight[target] log_softmax(x)[target]: x [..., C], target [...] int64
Tensor softmax_cross_entropy(Operand x, Operand target, const SoftmaxCrossEntropyOptions& options = {});

}  // namespace heed
