#pragma once

#include <optional>

#include "autograd/operand.h"

/// Attention from queries and keys.
namespace heed {

/// How queries attend to keys.
struct AttentionOptions {
  Tensor mask = {};                  ///< bool, true = may attend; broadcasts to the scores
  Tensor bias = {};                  ///< added to the scores; broadcasts to them
  bool is_causal = false;            ///< query i attends to the keys 0 to past + i
  int64_t past = 0;                  ///< how many keys are before the first query, as in cached decoding
  double dropout_p = 0;              ///< of the weights
  std::optional<double> scale = {};  ///< of the products of query and key; without: 1 / sqrt(D)
  bool need_weights = false;         ///< of scaled_dot_product_attention: give the weights too
};
/// softmax(scale query key^T + bias) over the keys that the mask allows, 0 where there is none; before
/// dropout.
///
///   query    [..., Tq, D]    floating
///   key      [..., Tk, D]    leading sizes broadcast
///   returns  [..., Tq, Tk]   rows that sum to 1, or to 0
Tensor attention_weights(Operand query, Operand key, const AttentionOptions& options = {});
/// The product of attention_weights, after dropout, and value, in tiles: the weights are never in memory as a
/// whole, which grows with Tq + Tk alone. What is masked in a whole tile is not read at all.
///
///   query, key   [..., Tq, D], [..., Tk, D]
///   value        [..., Tk, Dv]
///   returns      [..., Tq, Dv]
///
/// Errors: sizes or dtypes that differ; a mask that is not bool; need_weights, or a bias that learns.
Tensor blocked_attention(Operand query, Operand key, Operand value, const AttentionOptions& options = {});
namespace detail {
/// Whether the weights must be in memory as a whole: they are wanted, or the bias learns.
bool needs_weights(const AttentionOptions& options);
}  // namespace detail

}  // namespace heed
