#pragma once

#include "nn/attention/multi_head.h"
#include "nn/layers/norm.h"

namespace heed {

enum class Activation { relu, gelu };

/// Choices for the layers of a transformer and for stacks of them.
struct TransformerOptions {
  int64_t dim_feedforward = 2048;
  double dropout = 0.1;  ///< at each of the three places below that says nothing of its own
  std::optional<double> attention_dropout = {};    ///< of the attention weights
  std::optional<double> feedforward_dropout = {};  ///< of the activations inside the feed-forward part
  std::optional<double> residual_dropout = {};     ///< of what each part adds to its input
  Activation activation = Activation::relu;
  double layer_norm_eps = 1e-5;
  bool norm_first = false;  ///< x + f(norm(x)) instead of norm(x + f(x)): deep stacks train without warm-up
  bool bias = true;
  bool rotary = false;      ///< turn queries and keys of self-attention by their positions
  bool final_norm = false;  ///< of a stack: a LayerNorm behind the last layer, as norm_first wants it

  LayerNormOptions norm() const { return {.eps = layer_norm_eps, .bias = bias}; }
};

/// Layers one behind the other, each with start values of its own. State dict: layers.{i}.*, and with
/// final_norm norm.*
template <class Self, class LayerType>
struct TransformerStack : Layer<Self> {
  TransformerStack(int64_t d_model, int64_t nhead, int64_t num_layers,
                   const TransformerOptions& options = {}) {
    check(num_layers >= 0, Self::kName, ": num_layers is ", num_layers, "; it must not be negative");
    for (int64_t i = 0; i < num_layers; ++i) layers.emplace_back(d_model, nhead, options);
    if (options.final_norm) norm.emplace(d_model, options.norm());
  }
  void visit(Visitor& v) override {
    v("layers", layers);
    v("norm", norm);
  }

  std::vector<LayerType> layers;
  std::optional<LayerNorm> norm;
};

/// Self-attention, then a feed-forward part for each position; each adds to its input, with a LayerNorm.
///
///   src        [B, T, E]; without a batch [T, E]
///   self       how positions attend to one another: a Mask, such as Mask::lengths(lengths, T), or
///              AttendOptions{.bias = ..., .is_causal = true}; of the scores' shape, [B, H, T, T]
///   returns    same shape as src
///
/// State dict: self_attn.*, linear1.*, linear2.*, norm1.*, norm2.*
struct TransformerEncoderLayer : Layer<TransformerEncoderLayer> {
  TransformerEncoderLayer(int64_t d_model, int64_t nhead, TransformerOptions options = {});
  Tensor forward(const Tensor& src, const AttendOptions& self = {}) const;
  void visit(Visitor& v) override {
    v("self_attn", self_attn);
    v("linear1", linear1);
    v("linear2", linear2);
    v("norm1", norm1);
    v("norm2", norm2);
  }

  TransformerOptions options;
  MultiheadAttention self_attn;
  Linear linear1, linear2;  ///< [dim_feedforward, E], [E, dim_feedforward]
  LayerNorm norm1, norm2;
};

/// TransformerEncoderLayer several times: arguments and result as there.
struct TransformerEncoder : TransformerStack<TransformerEncoder, TransformerEncoderLayer> {
  static constexpr const char* kName = "TransformerEncoder";  ///< for messages
  using TransformerStack::TransformerStack;
  Tensor forward(const Tensor& src, const AttendOptions& self = {}) const;
};

/// Spares one decoder layer work done before: keys and values of the target so far and of the memory.
struct DecoderLayerCache {
  KeyValueCache self, memory;
};

/// The state of decoding step by step: give each call only the new positions.
///
///   DecoderCache cache;
///   for (...) next = decoder(embed(token, cache.length()), memory, causal, memory_mask, &cache);
///
/// The memory is read by the first call and remembered. A copy is a state of its own.
struct DecoderCache {
  std::vector<DecoderLayerCache> layers;
  TurnedWeights weights;

  /// The number of target positions that it holds.
  int64_t length() const { return layers.empty() ? 0 : layers.front().self.length(); }
  /// Forgets all target positions but the first `length`.
  void roll_back(int64_t length) {
    for (DecoderLayerCache& layer : layers) layer.self.roll_back(length);
  }
  /// Row i of the batch goes on from what row rows[i] was, target and memory; int64 [B'].
  void select(const Tensor& rows) {
    for (DecoderLayerCache& layer : layers) {
      layer.self.select(rows);
      layer.memory.select(rows);
    }
  }
};

/// Self-attention, attention to the memory, then a feed-forward part for each position; each adds to its
/// input, with a LayerNorm.
///
///   tgt          [B, T, E]; without a batch [T, E]
///   memory       [B, S, E], what the encoder gave
///   self         how the target attends to itself: AttendOptions{.is_causal = true}, or a Mask and a bias of
///                the scores' shape, [B, H, T, T]; with a cache [B, H, T, past + T]
///   cross        how it attends to the memory, [B, H, T, S]: Mask::lengths(lengths, S)
///   returns      same shape as tgt
///
/// State dict: self_attn.*, multihead_attn.*, linear1.*, linear2.*, norm1.*, norm2.*, norm3.*
struct TransformerDecoderLayer : Layer<TransformerDecoderLayer> {
  TransformerDecoderLayer(int64_t d_model, int64_t nhead, TransformerOptions options = {});
  Tensor forward(const Tensor& tgt, const Tensor& memory, const AttendOptions& self = {},
                 const AttendOptions& cross = {}, DecoderLayerCache* cache = nullptr) const;
  void visit(Visitor& v) override {
    v("self_attn", self_attn);
    v("multihead_attn", multihead_attn);
    v("linear1", linear1);
    v("linear2", linear2);
    v("norm1", norm1);
    v("norm2", norm2);
    v("norm3", norm3);
  }

  TransformerOptions options;
  MultiheadAttention self_attn, multihead_attn;
  Linear linear1, linear2;  ///< [dim_feedforward, E], [E, dim_feedforward]
  LayerNorm norm1, norm2, norm3;
};

/// TransformerDecoderLayer several times: arguments and result as there.
struct TransformerDecoder : TransformerStack<TransformerDecoder, TransformerDecoderLayer> {
  static constexpr const char* kName = "TransformerDecoder";
  using TransformerStack::TransformerStack;
  Tensor forward(const Tensor& tgt, const Tensor& memory, const AttendOptions& self = {},
                 const AttendOptions& cross = {}, DecoderCache* cache = nullptr) const;
};

/// Encoder and decoder (Vaswani et al., 2017), without embeddings, positions and the projection to words.
/// Both stacks end in a LayerNorm, whatever final_norm says.
///
///   src            [B, S, E]
///   tgt            [B, T, E]
///   encoder_self, decoder_self, cross   as the stacks take them
///   returns        [B, T, E]
///
/// Start: matrices Xavier uniform. State dict: encoder.layers.{i}.*, encoder.norm.*, decoder.layers.{i}.*,
/// decoder.norm.*
struct Transformer : Layer<Transformer> {
  Transformer(int64_t d_model, int64_t nhead, int64_t num_encoder_layers, int64_t num_decoder_layers,
              TransformerOptions options = {});
  Tensor forward(const Tensor& src, const Tensor& tgt, const AttendOptions& encoder_self = {},
                 const AttendOptions& decoder_self = {}, const AttendOptions& cross = {}) const {
    return decoder(tgt, encoder(src, encoder_self), decoder_self, cross);
  }
  void visit(Visitor& v) override {
    v("encoder", encoder);
    v("decoder", decoder);
  }

  TransformerEncoder encoder;
  TransformerDecoder decoder;
};

}  // namespace heed
