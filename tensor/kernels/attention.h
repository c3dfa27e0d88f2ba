#pragma once

#include "tensor/random.h"
#include "tensor/tensor.h"

/// Attention that never stores all of its weights: y = softmax(scale q k^T + bias) v.
///
///   q        [..., Tq, D]
///   k        [..., Tk, D]
///   v        [..., Tk, Dv]    leading dimensions broadcast
namespace heed::kernel {

/// Besides q and k, this determines the weights. `allowed` (bool) and `bias` may be undefined; they broadcast
/// to [..., Tq, Tk], and must not enlarge the last two sizes.
struct AttentionRule {
  static constexpr int64_t everything = int64_t{1} << 62;
  double scale;
  Tensor allowed = {};
  Tensor bias = {};
  int64_t past = everything;    // query i attends to the keys 0 to past + i
  DropoutFactors dropout = {};  // of the weights, [..., Tq, Tk]
};

/// The sizes of one call. Each matrix of the leading dimensions is called a head.
struct AttentionSizes {
  Shape lead;  // [...] of the result
  int64_t heads, Tq, Tk, D, Dv;

  AttentionSizes(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionRule& rule);
  /// [..., rows, columns]
  Shape shape(int64_t rows, int64_t columns) const;
};

struct AttentionResult {
  Tensor y;  // [..., Tq, Dv], 0 for a query that may attend to no key; rows in the memory order of q's
  Tensor log_totals;  // [heads, Tq], log sum_j exp(s_j), from which the gradient recomputes the weights
};
AttentionResult attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionRule& rule);

/// The gradients, with all leading dimensions of the result; rows in the memory order of the operands'.
struct AttentionGradients {
  Tensor q, k, v;
};
AttentionGradients attention_backward(const Tensor& g, const Tensor& q, const Tensor& k, const Tensor& v,
                                      const AttentionRule& rule, const AttentionResult& forward);

}  // namespace heed::kernel
