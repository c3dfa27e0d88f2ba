#pragma once

#include "tensor/tensor.h"

/// The cross entropy of rows of logits x [..., C] against classes target [...]. With p = softmax(x), class
/// weights w (all 1 when undefined) and smoothing s, the row with target t has
///
///   loss     (1 - s) w_t (-log p_t) + s / C sum_j w_j (-log p_j)         0 when t is ignored
///   dx_j     g ((1 - s) w_t (p_j - [j == t]) + s / C (p_j sum_k w_k - w_j))
namespace heed::kernel {

struct ClassTargets {
  Tensor target;  // int64, contiguous
  Tensor weight;  // [C] of the logits' dtype, contiguous, or undefined
  int64_t ignore_index;
  double smoothing;
};

/// The sum of w_t over the rows that are not ignored. Throws for a target that is no class.
double total_weight(const ClassTargets& targets, int64_t classes);
/// A loss for each row; and for the gradient the largest of its logits, and log sum exp(x - most). Apart, for
/// beside a large logit their sum would lose the digits of the second.
struct CrossEntropy {
  Tensor loss, most, log_total;
};
CrossEntropy cross_entropy(const Tensor& x, const ClassTargets& targets);
/// g has a value for each row.
Tensor cross_entropy_backward(const Tensor& g, const Tensor& x, const CrossEntropy& forward,
                              const ClassTargets& targets);

}  // namespace heed::kernel
