#pragma once

#include "tensor/tensor.h"

/// The cross entropy of rows of logits x [..., C] with target classes [...]. With p = softmax(x), class
/// weights w (all 1 if undefined) and smoothing s, the row with target t has
///
///   loss     (1 - s) w_t (-log p_t) + s / C sum_j w_j (-log p_j)         0 if t is ignored
///   dx_j     g ((1 - s) w_t (p_j - [j == t]) + s / C (p_j sum_k w_k - w_j))
namespace heed::kernel {

struct ClassTargets {
  Tensor target;  // int64, contiguous
  Tensor weight;  // [C] of the logits' dtype, contiguous, or undefined
  int64_t ignore_index;
  double smoothing;
};

/// The sum of w_t over the rows that are not ignored. Throws if a target is not a class.
double total_weight(const ClassTargets& targets, int64_t classes);

/// For each row: the loss, and for the gradient the largest logit and log sum_j exp(x_j - max). The two are
/// kept apart because their sum would lose the digits of the second if a logit is large.
struct CrossEntropy {
  Tensor loss, max, log_sum;
};
CrossEntropy cross_entropy(const Tensor& x, const ClassTargets& targets);
/// g has one value per row.
Tensor cross_entropy_backward(const Tensor& g, const Tensor& x, const CrossEntropy& forward,
                              const ClassTargets& targets);

}  // namespace heed::kernel
