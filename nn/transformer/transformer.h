#pragma once

#include "nn/attention/multi_head.h"

/// Transformer encoder and decoder: layers, stacks of layers, both together, and caches for decoding step by
/// step.
namespace heed {

/// The activation inside the feed-forward part.
enum class Activation { relu, gelu };

/// Options of the layers of a transformer and of stacks of them.
struct TransformerOptions {
  int64_t dim_feedforward = 2048;                  ///< Width inside the feed-forward part.
  double dropout = 0.1;                            ///< Default of the next three.
  std::optional<double> attention_dropout = {};    ///< Of the attention weights.
  std::optional<double> feedforward_dropout = {};  ///< Of the activations inside the feed-forward part.
  std::optional<double> residual_dropout = {};     ///< Of the output of each part, before it is added.
  Activation activation = Activation::relu;        ///< Inside the feed-forward part.
  double layer_norm_eps = 1e-5;                    ///< Of every LayerNorm.
  bool norm_first = false;  ///< x + f(norm(x)) instead of norm(x + f(x)): deep stacks train without warm-up.
  bool bias = true;         ///< Of all linear maps and norms.
  bool rotary = false;      ///< Rotate queries and keys of self-attention by their positions.
  bool final_norm = false;  ///< Of a stack: a LayerNorm after the last layer, usual with norm_first.
  /// Forms of self-attention, and of the decoder's attention to the memory. Their bias and dropout are those
  /// above. Every layer begins with a copy of parts that learn, such as position_bias.
  MultiheadAttentionOptions self_attention = {}, cross_attention = {};

  /// Options of every LayerNorm.
  LayerNormOptions norm() const { return {.eps = layer_norm_eps, .bias = bias}; }
};

/// The cache of a stack for decoding step by step: each call then gets only the new positions. A copy is
/// independent of the original.
template <class LayerCache>
struct StackCache {
  std::vector<LayerCache> layers;  ///< one for each layer; empty before the first call

  /// Number of cached positions.
  int64_t length() const { return layers.empty() ? 0 : layers.front().length(); }
  /// Keeps only the first `length` positions. Throws if there are fewer.
  void roll_back(int64_t length) {
    for (LayerCache& layer : layers) layer.roll_back(length);
  }
  /// Replaces row i of the batch by row rows[i]: int64 [B'].
  void select(const Tensor& rows) {
    for (LayerCache& layer : layers) layer.select(rows);
  }
};

/// A sequence of layers, each with its own start values. State dict: layers.{i}.*, and with final_norm norm.*
template <class Self, class LayerType>
struct TransformerStack : Layer<Self> {
  /// Errors: num_layers below 0.
  TransformerStack(int64_t d_model, int64_t nhead, int64_t num_layers,
                   const TransformerOptions& options = {}) {
    check_in(Self::kName, num_layers >= 0, "num_layers is ", num_layers, "; it must not be negative");
    for (int64_t i = 0; i < num_layers; ++i) layers.emplace_back(d_model, nhead, options);
    if (options.final_norm) norm.emplace(d_model, options.norm());
  }
  void visit(Visitor& v) override { v("layers", layers, "norm", norm); }

  std::vector<LayerType> layers;  ///< in the order in which they are called
  std::optional<LayerNorm> norm;  ///< after the last layer
};

/// Self-attention, then a feed-forward part for each position. Each adds to its input, with a LayerNorm
/// (Vaswani et al., 2017):
///
///   x = norm1(src + self_attn(src)),  y = norm2(x + linear2(activation(linear1(x))))
///
/// with dropout on the output of each part. With norm_first, x = src + self_attn(norm1(src)), and so on.
///
///   src        [B, T, E]; without a batch [T, E]
///   self       how positions attend to each other: a Mask, such as Mask::lengths(lengths, T), or
///              AttentionOptions{.bias = ..., .is_causal = true}, for scores [B, H, T, T]
///   cache      of this layer; src then holds the positions after the cached ones
///   returns    same shape as src
///
/// State dict: self_attn.*, linear1.*, linear2.*, norm1.*, norm2.* Start: that of these layers.
///
/// Errors: need_weights among the options. An error leaves the cache unchanged.
struct TransformerEncoderLayer : Layer<TransformerEncoderLayer> {
  TransformerEncoderLayer(int64_t d_model, int64_t nhead, TransformerOptions options = {});
  Tensor forward(const Tensor& src, const AttentionOptions& self = {}, KeyValueCache* cache = nullptr) const;
  void visit(Visitor& v) override {
    v("self_attn", self_attn, "linear1", linear1, "linear2", linear2, "norm1", norm1, "norm2", norm2);
  }

  TransformerOptions options;
  MultiheadAttention self_attn;
  Linear linear1, linear2;  ///< [dim_feedforward, E]; [E, dim_feedforward]
  LayerNorm norm1, norm2;
};

/// Cache of a stack that decodes without a memory, as in language models:
///
///   EncoderCache cache;
///   for (...) next = encoder(embed(token, cache.length()), AttentionOptions{.is_causal = true}, &cache);
using EncoderCache = StackCache<KeyValueCache>;

/// A stack of TransformerEncoderLayer, with the same arguments and result.
struct TransformerEncoder : TransformerStack<TransformerEncoder, TransformerEncoderLayer> {
  static constexpr const char* kName = "TransformerEncoder";
  using TransformerStack::TransformerStack;
  Tensor forward(const Tensor& src, const AttentionOptions& self = {}, EncoderCache* cache = nullptr) const;
};

/// Cache of one decoder layer.
struct DecoderLayerCache {
  KeyValueCache self, memory;  ///< of the target so far; of the memory

  int64_t length() const { return self.length(); }            ///< number of cached target positions
  void roll_back(int64_t length) { self.roll_back(length); }  ///< keeps only the first target positions
  /// Replaces row i of the batch by row rows[i], in target and memory.
  void select(const Tensor& rows) {
    self.select(rows);
    memory.select(rows);
  }
};

/// Cache of a decoder:
///
///   DecoderCache cache;
///   for (...) next = decoder(embed(token, cache.length()), memory, causal, memory_mask, &cache);
///
/// Only the first call reads the memory.
using DecoderCache = StackCache<DecoderLayerCache>;

/// Self-attention, attention to the memory, then a feed-forward part for each position. Each adds to its
/// input, with a LayerNorm (Vaswani et al., 2017):
///
///   x = norm1(tgt + self_attn(tgt)),  y = norm2(x + multihead_attn(x, memory)),
///   z = norm3(y + linear2(activation(linear1(y))))
///
/// with dropout and norm_first as in TransformerEncoderLayer.
///
///   tgt          [B, T, E]; without a batch [T, E]
///   memory       [B, S, E], the output of the encoder
///   self         how the target attends to itself: AttentionOptions{.is_causal = true}, or a Mask and a bias
///                for scores [B, H, T, T]; with a cache [B, H, T, past + T]
///   cross        how it attends to the memory, for scores [B, H, T, S]: Mask::lengths(lengths, S)
///   cache        of this layer; tgt then holds the positions after the cached ones
///   returns      same shape as tgt
///
/// State dict: self_attn.*, multihead_attn.*, linear1.*, linear2.*, norm1.*, norm2.*, norm3.* Start: that of
/// these layers.
///
/// Errors: need_weights among the options. An error leaves the cache unchanged.
struct TransformerDecoderLayer : Layer<TransformerDecoderLayer> {
  TransformerDecoderLayer(int64_t d_model, int64_t nhead, TransformerOptions options = {});
  Tensor forward(const Tensor& tgt, const Tensor& memory, const AttentionOptions& self = {},
                 const AttentionOptions& cross = {}, DecoderLayerCache* cache = nullptr) const;
  void visit(Visitor& v) override {
    v("self_attn", self_attn, "multihead_attn", multihead_attn, "linear1", linear1, "linear2", linear2,
      "norm1", norm1, "norm2", norm2, "norm3", norm3);
  }

  TransformerOptions options;
  MultiheadAttention self_attn, multihead_attn;  ///< of tgt to itself; of tgt to the memory
  Linear linear1, linear2;                       ///< [dim_feedforward, E]; [E, dim_feedforward]
  LayerNorm norm1, norm2, norm3;
};

/// A stack of TransformerDecoderLayer, with the same arguments and result.
struct TransformerDecoder : TransformerStack<TransformerDecoder, TransformerDecoderLayer> {
  static constexpr const char* kName = "TransformerDecoder";
  using TransformerStack::TransformerStack;
  Tensor forward(const Tensor& tgt, const Tensor& memory, const AttentionOptions& self = {},
                 const AttentionOptions& cross = {}, DecoderCache* cache = nullptr) const;
};

/// Encoder and decoder (Vaswani et al., 2017), without embeddings, positions and the projection to words.
/// Both stacks end in a LayerNorm, whatever final_norm is.
///
///   src            [B, S, E]
///   tgt            [B, T, E]
///   encoder_self, decoder_self, cross   the options of the stacks
///   returns        [B, T, E]
///
/// Start: weights that are matrices Xavier uniform; a table of biases, as that of T5Bias, as it is. State
/// dict: encoder.layers.{i}.*, encoder.norm.*, decoder.layers.{i}.*, decoder.norm.*
struct Transformer : Layer<Transformer> {
  Transformer(int64_t d_model, int64_t nhead, int64_t num_encoder_layers, int64_t num_decoder_layers,
              TransformerOptions options = {});
  Tensor forward(const Tensor& src, const Tensor& tgt, const AttentionOptions& encoder_self = {},
                 const AttentionOptions& decoder_self = {}, const AttentionOptions& cross = {}) const {
    return decoder(tgt, encoder(src, encoder_self), decoder_self, cross);
  }
  void visit(Visitor& v) override { v("encoder", encoder, "decoder", decoder); }

  TransformerEncoder encoder;
  TransformerDecoder decoder;
};

}  // namespace heed
