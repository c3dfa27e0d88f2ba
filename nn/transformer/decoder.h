#pragma once

#include <optional>
#include <vector>

#include "nn/attention/multi_head.h"
#include "nn/transformer/block.h"

namespace heed {

/// What one decoder layer need not compute again: keys and values of the target so far and of the memory.
struct DecoderLayerCache {
  KeyValueCache self, memory;
};

/// The state of decoding step by step: give each call only the new positions.
///
///   DecoderCache cache;
///   for (...) next = decoder(embed(token, cache.length()), memory, Mask(), memory_mask, &cache);
///
/// The memory is read by the first call and remembered. A copy is a state of its own.
struct DecoderCache {
  std::vector<DecoderLayerCache> layers;

  /// How many target positions it holds.
  int64_t length() const { return layers.empty() ? 0 : layers.front().self.length(); }
  /// Forgets all target positions but the first `length`.
  void roll_back(int64_t length);
  /// Row i of the batch goes on from what row rows[i] was, target and memory; int64 [B'].
  void select(const Tensor& rows);
};

/// Self-attention, attention to the memory, then a feed-forward part for each position; each adds to its
/// input, with a LayerNorm.
///
///   tgt          [B, T, E]; without a batch [T, E]
///   memory       [B, S, E], what the encoder gave
///   tgt_mask     broadcasts to [B, H, T, T]: Mask::causal(T); with a cache to [B, H, T, past + T], and one
///                new position needs none
///   memory_mask  broadcasts to [B, H, T, S]: Mask::lengths(lengths, S)
///   returns      same shape as tgt
///
/// State dict: self_attn.*, multihead_attn.*, linear1.*, linear2.*, norm1.*, norm2.*, norm3.*
class TransformerDecoderLayer : public Layer<TransformerDecoderLayer> {
 public:
  TransformerDecoderLayer(int64_t d_model, int64_t nhead, TransformerOptions options = {});
  Tensor forward(const Tensor& tgt, const Tensor& memory, const Mask& tgt_mask = {},
                 const Mask& memory_mask = {}, DecoderLayerCache* cache = nullptr) const;
  void visit(Visitor& v) override;

  TransformerOptions options;
  MultiheadAttention self_attn, multihead_attn;
  Linear linear1, linear2;  // [dim_feedforward, E], [E, dim_feedforward]
  LayerNorm norm1, norm2, norm3;
};

/// Layers one behind the other, each with start values of its own. State dict: layers.{i}.*, and with
/// final_norm norm.*
class TransformerDecoder : public Layer<TransformerDecoder> {
 public:
  TransformerDecoder(int64_t d_model, int64_t nhead, int64_t num_layers, TransformerOptions options = {});
  Tensor forward(const Tensor& tgt, const Tensor& memory, const Mask& tgt_mask = {},
                 const Mask& memory_mask = {}, DecoderCache* cache = nullptr) const;
  void visit(Visitor& v) override;

  std::vector<TransformerDecoderLayer> layers;
  std::optional<LayerNorm> norm;
};

}  // namespace heed
