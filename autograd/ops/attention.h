#pragma once

#include <optional>

#include "autograd/operand.h"

/// Attention from queries and keys.
namespace heed {

/// What decides, beside the products of query and key, how much each key counts.
struct AttentionScores {
  Tensor mask = {};                  // bool, true = may attend; broadcasts to the scores
  Tensor bias = {};                  // added to the scores; broadcasts to them
  bool is_causal = false;            // query i attends to keys 0 to i
  std::optional<double> scale = {};  // of the products; without: 1 / sqrt(D)
};
/// softmax(scale query key^T + bias) over the keys that the mask allows, 0 where there is none: query [...,
/// Tq, D], key [..., Tk, D] -> [..., Tq, Tk]
Tensor attention_weights(Operand query, Operand key, const AttentionScores& scores = {});
/// The product of attention_weights and value, [..., Tk, Dv] -> [..., Tq, Dv], in tiles: the weights never
/// stand in memory, which is linear in Tq + Tk. What is masked in a whole tile is not read at all.
Tensor blocked_attention(Operand query, Operand key, Operand value, const AttentionScores& scores = {});
namespace detail {
/// False where blocked_attention would refuse: a bias needs a gradient, or mask and bias enlarge the scores.
bool can_block_attention(const Tensor& query, const Tensor& key, const AttentionScores& scores);
}  // namespace detail

}  // namespace heed
