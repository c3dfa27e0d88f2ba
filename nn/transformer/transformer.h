#pragma once

#include "nn/transformer/decoder.h"
#include "nn/transformer/encoder.h"

namespace heed {

/// Encoder and decoder (Vaswani et al., 2017), without embeddings, positions and the projection to words.
/// Both stacks end in a LayerNorm, whatever final_norm says.
///
///   src          [B, S, E]
///   tgt          [B, T, E]
///   src_mask, tgt_mask, memory_mask   broadcast to [B, H, S, S], [B, H, T, T], [B, H, T, S]
///   returns      [B, T, E]
///
/// Start: matrices Xavier uniform. State dict: encoder.layers.{i}.*, encoder.norm.*, decoder.layers.{i}.*,
/// decoder.norm.*
class Transformer : public Layer<Transformer> {
 public:
  Transformer(int64_t d_model, int64_t nhead, int64_t num_encoder_layers, int64_t num_decoder_layers,
              TransformerOptions options = {});
  Tensor forward(const Tensor& src, const Tensor& tgt, const Mask& src_mask = {}, const Mask& tgt_mask = {},
                 const Mask& memory_mask = {}) const {
    return decoder(tgt, encoder(src, src_mask), tgt_mask, memory_mask);
  }
  void visit(Visitor& v) override {
    v("encoder", encoder);
    v("decoder", decoder);
  }

  TransformerEncoder encoder;
  TransformerDecoder decoder;
};

}  // namespace heed
