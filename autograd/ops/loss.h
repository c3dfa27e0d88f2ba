#pragma once

#include <optional>

#include "autograd/operand.h"

/// Losses that are operations; the others are made of these, see nn/functional.h.
namespace heed {

/// How a loss for each element becomes one number; batchmean is the sum over the size of dimension 0.
enum class Reduction { none, mean, sum, batchmean };
struct CrossEntropyOptions {
  Tensor weight = {};           // [C], one for each class
  int64_t ignore_index = -100;  // targets of this value count for nothing
  Reduction reduction = Reduction::mean;
  double label_smoothing = 0;             // this share of each target is spread evenly over all classes
  std::optional<int64_t> class_dim = {};  // where the classes are; without: see who takes the options
};
/// -weight[target] log_softmax(x)[target]: x [..., C, ...], target [...] int64. The classes are in the last
/// dimension unless class_dim names another.
Tensor softmax_cross_entropy(Operand x, Operand target, const CrossEntropyOptions& options = {});

}  // namespace heed
