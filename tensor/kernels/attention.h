#pragma once

#include "tensor/random.h"
#include "tensor/tensor.h"

/// Attention whose weights are never in memory as a whole: y = softmax(scale q k^T + bias) v.
///
///   q        [..., Tq, D]
///   k        [..., Tk, D]
///   v        [..., Tk, Dv]    leading dimensions broadcast
namespace heed::kernel {

/// Beside q and k, this decides how much each key counts. `allowed` (bool) and `bias` may be undefined; they
/// broadcast to [..., Tq, Tk], which their last two sizes must not enlarge.
struct AttentionRule {
  static constexpr int64_t everything = int64_t{1} << 62;
  double scale;
  Tensor allowed = {};
  Tensor bias = {};
  int64_t past = everything;    // query i sees the keys 0 to past + i
  DropoutFactors dropout = {};  // of the weights, [..., Tq, Tk]
};

struct AttentionResult {
  Tensor y;  // [..., Tq, Dv], 0 where a query may attend to nothing; its rows lie in the order of q's
  Tensor log_totals;  // [..., Tq], log sum_j exp(s_j), by which the gradient finds the weights again
};
AttentionResult attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionRule& rule);

/// The gradients, with all leading dimensions of the result; their rows lie in the order of the operands'.
struct AttentionGradients {
  Tensor q, k, v;
};
AttentionGradients attention_backward(const Tensor& g, const Tensor& q, const Tensor& k, const Tensor& v,
                                      const AttentionRule& rule, const AttentionResult& forward);

}  // namespace heed::kernel
