#pragma once

#include "tensor/random.h"
#include "tensor/tensor.h"

/// Attention that never stores all of its weights: y = softmax(scale q k^T + bias) v.
///
///   q        [..., Tq, D]
///   k        [..., Tk, D]
///   v        [..., Tk, Dv]    leading dimensions broadcast
namespace heed::kernel {

/// Besides q and k, this determines the weights. The tensors may be undefined. `allowed` (bool) and `bias`
/// broadcast to [..., Tq, Tk], and must not enlarge the last two sizes.
struct AttentionRule {
  static constexpr int64_t everything = int64_t{1} << 61;
  double scale;
  Tensor allowed = {};
  Tensor bias = {};
  int64_t past = everything;        // query i attends to the keys 0 to past + i,
  DropoutFactors dropout = {};      // of the weights, [..., Tq, Tk]
  int64_t window = 2 * everything;  // of those only to the last `window`
  int64_t sinks = 0;                // and the first `sinks`
  double soft_cap = 0;              // s becomes cap tanh(s / cap), before bias; 0: no cap
  Tensor positions = {};            // [..., 1, Tq + Tk - 1]: element j - i + Tq - 1 is added to s_ij
  Tensor sink = {};                 // [..., 1, 1]: exp of it is added to the sum of each row
};

/// The sizes of one call. Each matrix of the leading dimensions is called a head.
struct AttentionSizes {
  Shape lead;  // [...] of the result
  int64_t heads, Tq, Tk, D, Dv;
  int64_t distances;  // j - i takes so many values

  AttentionSizes(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionRule& rule);
  /// [..., rows, columns]
  Shape shape(int64_t rows, int64_t columns) const;
};

struct AttentionResult {
  Tensor y;  // [..., Tq, Dv], 0 for a query that may attend to no key; rows in the memory order of q's
  Tensor log_totals;  // [heads, Tq], log of the sum that each weight is divided by, for the gradient
};
AttentionResult attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionRule& rule);

/// The gradients, with all leading dimensions of the result; rows in the memory order of the operands'. That
/// of `positions` is undefined if there are none. That of the sink needs no pass over the tiles: with p =
/// exp( sink - log_total) it is -p sum_i g_i . y_i.
struct AttentionGradients {
  Tensor q, k, v, positions = {};
};
AttentionGradients attention_backward(const Tensor& g, const Tensor& q, const Tensor& k, const Tensor& v,
                                      const AttentionRule& rule, const AttentionResult& forward);

}  // namespace heed::kernel
