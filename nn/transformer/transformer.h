#pragma once

#include "nn/attention/multi_head.h"
#include "nn/layers/norm.h"

/// Encoder and decoder: layers, stacks of them, both together, and the caches for decoding step by step.
namespace heed {

/// The function inside the feed-forward part.
enum class Activation { relu, gelu };

/// Choices for the layers of a transformer and for stacks of them.
struct TransformerOptions {
  int64_t dim_feedforward = 2048;  ///< the width inside the feed-forward part
  double dropout = 0.1;            ///< at each of the three places below that says nothing of its own
  std::optional<double> attention_dropout = {};    ///< of the attention weights
  std::optional<double> feedforward_dropout = {};  ///< of the activations inside the feed-forward part
  std::optional<double> residual_dropout = {};     ///< of what each part adds to its input
  Activation activation = Activation::relu;        ///< inside the feed-forward part
  double layer_norm_eps = 1e-5;                    ///< of every LayerNorm
  bool norm_first = false;  ///< x + f(norm(x)) instead of norm(x + f(x)): deep stacks train without warm-up
  bool bias = true;         ///< of all linear maps and norms
  bool rotary = false;      ///< turn queries and keys of self-attention by their positions
  bool final_norm = false;  ///< of a stack: a LayerNorm behind the last layer, as norm_first wants it

  /// Those of every LayerNorm.
  LayerNormOptions norm() const { return {.eps = layer_norm_eps, .bias = bias}; }
};

/// Layers one behind the other, each with start values of its own. State dict: layers.{i}.*, and with
/// final_norm norm.*
template <class Self, class LayerType>
struct TransformerStack : Layer<Self> {
  /// The width E, the heads of each attention, the number of layers. Errors: num_layers below 0.
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

  std::vector<LayerType> layers;  ///< the first one first
  std::optional<LayerNorm> norm;  ///< behind the last, with final_norm
};

/// Self-attention, then a feed-forward part for each position; each adds to its input, with a LayerNorm
/// (Vaswani et al., 2017):
///
///   x = norm1(src + self_attn(src)),  y = norm2(x + linear2(activation(linear1(x))))
///
/// with dropout on what each part adds; norm_first: x = src + self_attn(norm1(src)), and so on.
///
///   src        [B, T, E]; without a batch [T, E]
///   self       how positions attend to one another: a Mask, such as Mask::lengths(lengths, T), or
///              AttendOptions{.bias = ..., .is_causal = true}; of the scores' shape, [B, H, T, T]
///   returns    same shape as src
///
///   cache      of this layer: src is what comes behind the positions that it holds
///
/// State dict: self_attn.*, linear1.*, linear2.*, norm1.*, norm2.*
///
/// Errors: a cache or need_weights among the options; the KeyValueCache is an argument of its own.
struct TransformerEncoderLayer : Layer<TransformerEncoderLayer> {
  /// The width E and the heads of each attention.
  TransformerEncoderLayer(int64_t d_model, int64_t nhead, TransformerOptions options = {});
  Tensor forward(const Tensor& src, const AttendOptions& self = {}, KeyValueCache* cache = nullptr) const;
  void visit(Visitor& v) override {
    v("self_attn", self_attn);
    v("linear1", linear1);
    v("linear2", linear2);
    v("norm1", norm1);
    v("norm2", norm2);
  }

  TransformerOptions options;    ///< what was chosen
  MultiheadAttention self_attn;  ///< of src to itself
  Linear linear1, linear2;       ///< [dim_feedforward, E]; [E, dim_feedforward]
  LayerNorm norm1, norm2;        ///< of the two parts
};

/// The state of a stack that writes step by step without a memory, as language models do: give each call only
/// the new positions.
///
///   EncoderCache cache;
///   for (...) next = encoder(embed(token, cache.length()), AttendOptions{.is_causal = true}, &cache);
///
/// A copy is a state of its own.
struct EncoderCache {
  std::vector<KeyValueCache> layers;  ///< of each layer, empty before the first call
  TransposedWeightCache weights;      ///< turned once for all steps

  /// The number of positions that it holds.
  int64_t length() const { return layers.empty() ? 0 : layers.front().length(); }
  /// Forgets all positions but the first `length`. Errors: more than it holds.
  void roll_back(int64_t length) {
    for (KeyValueCache& layer : layers) layer.roll_back(length);
  }
  /// Row i of the batch goes on from what row rows[i] was; int64 [B'].
  void select(const Tensor& rows) {
    for (KeyValueCache& layer : layers) layer.select(rows);
  }
};

/// TransformerEncoderLayer several times: arguments and result as there. An error leaves the cache as it was.
struct TransformerEncoder : TransformerStack<TransformerEncoder, TransformerEncoderLayer> {
  static constexpr const char* kName = "TransformerEncoder";  ///< for messages
  using TransformerStack::TransformerStack;
  Tensor forward(const Tensor& src, const AttendOptions& self = {}, EncoderCache* cache = nullptr) const;
};

/// Spares one decoder layer work done before: keys and values of the target so far and of the memory.
struct DecoderLayerCache {
  KeyValueCache self, memory;  ///< of the target so far; of the memory
};

/// The state of decoding step by step: give each call only the new positions.
///
///   DecoderCache cache;
///   for (...) next = decoder(embed(token, cache.length()), memory, causal, memory_mask, &cache);
///
/// The memory is read by the first call and remembered. A copy is a state of its own.
struct DecoderCache {
  std::vector<DecoderLayerCache> layers;  ///< of each layer, empty before the first call
  TransposedWeightCache weights;          ///< turned once for all steps

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
/// input, with a LayerNorm:
///
///   x = norm1(tgt + self_attn(tgt)),  y = norm2(x + multihead_attn(x, memory)),
///   z = norm3(y + linear2(activation(linear1(y))))
///
/// with dropout and norm_first as in TransformerEncoderLayer.
///
///   tgt          [B, T, E]; without a batch [T, E]
///   memory       [B, S, E], what the encoder gave
///   self         how the target attends to itself: AttendOptions{.is_causal = true}, or a Mask and a bias of
///                the scores' shape, [B, H, T, T]; with a cache [B, H, T, past + T]
///   cross        how it attends to the memory, [B, H, T, S]: Mask::lengths(lengths, S)
///   returns      same shape as tgt
///
/// State dict: self_attn.*, multihead_attn.*, linear1.*, linear2.*, norm1.*, norm2.*, norm3.*
///
/// Errors: a cache or need_weights among the options; a DecoderLayerCache is an argument of its own.
struct TransformerDecoderLayer : Layer<TransformerDecoderLayer> {
  /// The width E and the heads of each attention.
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

  TransformerOptions options;                    ///< what was chosen
  MultiheadAttention self_attn, multihead_attn;  ///< of tgt to itself; of tgt to the memory
  Linear linear1, linear2;                       ///< [dim_feedforward, E]; [E, dim_feedforward]
  LayerNorm norm1, norm2, norm3;                 ///< of the three parts
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
  /// The width E, the heads of each attention, the layers of either stack.
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

  TransformerEncoder encoder;  ///< src becomes the memory
  TransformerDecoder decoder;  ///< tgt attends to the memory
};

}  // namespace heed
