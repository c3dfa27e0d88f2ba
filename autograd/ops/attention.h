#pragma once

#include <optional>

#include "autograd/operand.h"

/// Attention from queries and keys.
namespace heed {

/// How queries attend to keys. A Mask converts to these options.
struct AttentionOptions {
  Tensor mask = {};                  ///< bool, true = may attend; broadcasts to the scores, [..., Tq, Tk]
  Tensor bias = {};                  ///< added to the scores; broadcasts to them
  bool is_causal = false;            ///< query i may only attend to the keys 0 to past + i
  int64_t past = 0;                  ///< number of keys before the first query, as in cached decoding
  double dropout_p = 0;              ///< probability that a weight is zeroed
  std::optional<double> scale = {};  ///< factor of query key^T; by default 1 / sqrt(D)
  bool need_weights = false;         ///< return the weights too
  bool average_attn_weights = true;  ///< of MultiheadAttention: weights are the mean over the heads
};
/// softmax(scale query key^T + bias) over the keys that the mask allows, before dropout; 0 for a query that
/// may attend to nothing.
///
///   query    [..., Tq, D]    floating
///   key      [..., Tk, D]    leading sizes broadcast
///   returns  [..., Tq, Tk]   each row sums to 1 or 0
Tensor attention_weights(Operand query, Operand key, const AttentionOptions& options = {});
/// attention_weights, after dropout, times value. Computes the weights tile by tile, so memory grows with
/// Tq + Tk and not with Tq Tk. Skips tiles in which everything is masked.
///
///   query, key   [..., Tq, D], [..., Tk, D]
///   value        [..., Tk, Dv]
///   returns      [..., Tq, Dv]
///
/// Errors: sizes or dtypes that differ; a mask that is not bool; need_weights, or a bias that requires a
/// gradient, since both need all weights in memory.
Tensor blocked_attention(Operand query, Operand key, Operand value, const AttentionOptions& options = {});
namespace detail {
/// Whether all weights must be in memory: they are returned, or the bias requires a gradient.
bool needs_weights(const AttentionOptions& options);
/// Throws unless shapes and dtypes fit. Returns the shape of the scores, [..., Tq, Tk].
Shape check_attention(const Operand& query, const Operand& key, const Operand& value,
                      const AttentionOptions& options);
/// Throws unless x, a mask or bias or undefined, broadcasts to scores of this shape.
void check_fits_scores(const char* what, const Tensor& x, const Shape& scores);
}  // namespace detail

}  // namespace heed
