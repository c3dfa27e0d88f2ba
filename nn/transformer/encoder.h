#pragma once

#include <optional>
#include <vector>

#include "nn/attention/multi_head.h"
#include "nn/transformer/block.h"

namespace heed {

/// Self-attention, then a feed-forward part for each position; each adds to its input, with a LayerNorm.
///
///   src        [B, T, E]; without a batch [T, E]
///   mask       broadcasts to [B, H, T, T]; [B, T, T] holds for every head: Mask::lengths(lengths, T)
///   returns    same shape as src
///
/// State dict: self_attn.*, linear1.*, linear2.*, norm1.*, norm2.*
class TransformerEncoderLayer : public Layer<TransformerEncoderLayer> {
 public:
  TransformerEncoderLayer(int64_t d_model, int64_t nhead, TransformerOptions options = {});
  Tensor forward(const Tensor& src, const Mask& mask = {}) const;
  void visit(Visitor& v) override;

  TransformerOptions options;
  MultiheadAttention self_attn;
  Linear linear1, linear2;  // [dim_feedforward, E], [E, dim_feedforward]
  LayerNorm norm1, norm2;
};

/// Layers one behind the other, each with start values of its own. State dict: layers.{i}.*, and with
/// final_norm norm.*
class TransformerEncoder : public Layer<TransformerEncoder> {
 public:
  TransformerEncoder(int64_t d_model, int64_t nhead, int64_t num_layers, TransformerOptions options = {});
  Tensor forward(const Tensor& src, const Mask& mask = {}) const;
  void visit(Visitor& v) override;

  std::vector<TransformerEncoderLayer> layers;
  std::optional<LayerNorm> norm;
};

}  // namespace heed
