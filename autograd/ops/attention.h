#pragma once

#include "autograd/operand.h"

/// Attention from queries and keys.
namespace heed {

/// How queries attend to keys. A Mask converts to these options. What is not set leaves plain attention.
///
/// The score of key j for query i is soft_cap(scale q_i . k_j), then score_map of it, plus bias and
/// position_bias; the weights are a softmax over the keys that mask, is_causal and window allow.
struct AttentionOptions {
  Tensor mask = {};                  ///< bool, true = may attend; broadcasts to the scores, [..., Tq, Tk]
  Tensor bias = {};                  ///< added to the scores; broadcasts to them
  bool is_causal = false;            ///< query i may only attend to the keys 0 to past + i
  int64_t past = 0;                  ///< number of keys before the first query, as in cached decoding
  double dropout_p = 0;              ///< probability that a weight is zeroed
  std::optional<double> scale = {};  ///< factor of query key^T; by default 1 / sqrt(D)
  bool need_weights = false;         ///< return the weights too
  bool average_attn_weights = true;  ///< of MultiheadAttention: weights are the mean over the heads
  /// Causal, and only to the last `window` keys, the query's own among them (Beltagy, Peters and Cohan 2020).
  /// Time is linear in Tq. Mask::window has keys on both sides.
  std::optional<int64_t> window = {};
  int64_t sinks = 0;    ///< with a window: also to the first `sinks` keys (Xiao et al., 2023)
  double soft_cap = 0;  ///< scores s become cap tanh(s / cap), before bias and mask; 0: they stay
  /// [..., Tq + Tk - 1]: element j - i + Tq - 1 is added to the score of key j for query i, so that the bias
  /// depends on their distance alone. May require a gradient. Sizes before the last broadcast to those before
  /// Tq, Tk; [H, Tq + Tk - 1] has a row for each head.
  Tensor position_bias = {};
  /// [...], broadcasts to the sizes before Tq, Tk: exp of it is one more term in the sum that the weights are
  /// divided by, so that they sum to less than 1. May require a gradient. [H] has one for each head.
  Tensor sink_logit = {};
  bool enable_gqa =
      false;  ///< of scaled_dot_product_attention: several heads of queries share a head of keys
  /// Applied to the scores, before bias and mask, and to the weights, before dropout: [..., Tq, Tk] -> the
  /// same. They need all weights in memory.
  std::function<Tensor(const Tensor&)> score_map = {}, weight_map = {};
};
/// The softmax of the scores over the keys that may be attended to, before dropout; 0 for a query that may
/// attend to nothing.
///
///   query    [..., Tq, D]    floating
///   key      [..., Tk, D]    leading sizes broadcast
///   returns  [..., Tq, Tk]   each row sums to 1 or 0, to less than 1 with a sink_logit
Tensor attention_weights(Operand query, Operand key, const AttentionOptions& options = {});
/// attention_weights, after dropout, times value. Computes the weights tile by tile, so memory grows with
/// Tq + Tk and not with Tq Tk. Skips tiles in which everything is masked, or outside of the window.
///
///   query, key   [..., Tq, D], [..., Tk, D]
///   value        [..., Tk, Dv]
///   returns      [..., Tq, Dv]
///
/// Errors: sizes or dtypes that differ; a mask that is not bool; a window below 1, negative sinks or
/// soft_cap; what needs all weights in memory: need_weights, score_map, weight_map, and a bias that requires
/// a gradient.
Tensor blocked_attention(Operand query, Operand key, Operand value, const AttentionOptions& options = {});
/// y_ij = x_i,(j - i + Tq - 1): from a value for each query and distance, sorted by distance, to one for each
/// query and key. Transformer-XL calls it the relative shift (Dai et al., 2019).
///
///   x        [..., Tq, Tq + Tk - 1]
///   returns  [..., Tq, Tk]
///
/// Errors: fewer columns than Tq - 1.
Tensor relative_shift(Operand x);
namespace detail {
/// Whether all weights must be in memory: they are returned or mapped, or the bias requires a gradient.
bool needs_weights(const AttentionOptions& options);
/// Throws unless shapes and dtypes fit. Returns the shape of the scores, [..., Tq, Tk].
Shape check_attention(const Operand& query, const Operand& key, const Operand& value,
                      const AttentionOptions& options);
/// Throws unless the mask and the biases broadcast to scores of this shape.
void check_fits_scores(const AttentionOptions& options, const Shape& scores);
/// Throws unless x, a mask or bias or undefined, broadcasts to scores of this shape.
void check_fits_scores(const char* what, const Tensor& x, const Shape& scores);
}  // namespace detail

}  // namespace heed
