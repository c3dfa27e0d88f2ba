#pragma once

#include "nn/attention/core.h"
#include "nn/attention/key_value_cache.h"
#include "nn/attention/position.h"
#include "nn/attention/position_bias.h"
#include "nn/attention/scaled_dot_product.h"
#include "nn/layers/norm.h"

/// Attention with several heads.
namespace heed {

/// What multiplies the outputs of the heads: nothing, one sigmoid(W_g x) for each head, or one for each
/// element (Qiu et al., 2025).
enum class HeadGate { none, headwise, elementwise };

/// Options of MultiheadAttention: the forms of attention. What is not set leaves plain attention, and forms
/// may be combined.
struct MultiheadAttentionOptions {
  bool bias = true;                   ///< Of the projections of queries, keys, values and outputs.
  double dropout = 0;                 ///< Probability that a weight is zeroed in training.
  std::optional<int64_t> kdim = {};   ///< Width of the keys; embed_dim by default.
  std::optional<int64_t> vdim = {};   ///< Width of the values; embed_dim by default.
  bool rotary = false;                ///< Rotate queries and keys by their positions; only in self-attention.
  RotaryOptions rotary_scaling = {};  ///< Of these rotations.
  std::optional<AnyPositionBias> position_bias = {};    ///< AlibiBias, T5Bias, or your own.
  std::optional<AnyRelativeScore> relative_score = {};  ///< ShawScore, TransformerXLScore, or your own.
  /// Heads of keys and values, each for num_heads / num_kv_heads heads of queries in a row; 1 is multi-query,
  /// num_heads the default (Shazeer 2019; Ainslie et al., 2023).
  std::optional<int64_t> num_kv_heads = {};
  /// Keys and values are maps of one latent vector of this width at each position, and the cache keeps that
  /// (multi-head latent attention; DeepSeek-V2, 2024). With c = W_a x, k_h = W_h c and q_h . k_h = (W_h^T
  /// q_h) . c the keys are never made: the latents are one head of keys and values for all queries. 0: no
  /// latents.
  int64_t latent_dim = 0;
  int64_t latent_rotary_dim = 0;   ///< Rotated coordinates next to the latent's; those of the key are shared.
  HeadGate gate = HeadGate::none;  ///< Of the outputs of the heads, from the query's input.
  std::optional<double> qk_norm = {};  ///< Scores are g cos(q, k), with this start of g (Henry et al., 2020).
  double soft_cap = 0;                 ///< AttentionOptions::soft_cap
  std::optional<int64_t> window = {};  ///< AttentionOptions::window
  int64_t sinks = 0;                   ///< AttentionOptions::sinks
  bool sink_logit = false;             ///< Learn AttentionOptions::sink_logit, from 0.
  int64_t memory_tokens = 0;  ///< Learned keys and values before those of the input; visible to every query.
  /// softmax(q1 k1) - lambda softmax(q2 k2), where 1 and 2 are halves of a head's width; the output of each
  /// head is normalized (RMSNorm) and multiplied by 1 - lambda_init. lambda is exp(a . b) - exp(c . d) +
  /// lambda_init with learned vectors (differential attention; Ye et al., 2024, who start layer l = 0, 1, ...
  /// at 0.8 - 0.6 exp(-0.3 l)).
  bool differential = false;
  /// Learned mixtures over heads: of scores, before bias and mask, and of weights (Shazeer et al., 2020).
  /// They start at the identity. Need all weights in memory.
  bool talking_heads = false;
  double lambda_init = 0.8;          ///< Of differential attention.
  std::optional<AnyCore> core = {};  ///< In place of scores, softmax and sum; `mask` and so on are up to it.
};

/// Attention with several heads: softmax(Q K^T / sqrt(D)) V per head; the heads are joined and projected
/// (Vaswani et al., 2017).
///
///   query      [B, Tq, E]     E = embed_dim, H heads of width D = E / H
///   key        [B, Tk, kdim]  for self-attention give only the query;
///   value      [B, Tk, vdim]  give both undefined to attend only to the cached positions; then options.past
///                             counts the earlier queries, for forms with distances
///   options    a Mask or AttentionOptions; mask and bias broadcast to [B, H, Tq, Tk]; [B, Tq, Tk] is for
///              every head
///   cache      keys and values are appended to it, and the query attends to all cached positions
///   returns    output [B, Tq, E]; with need_weights the weights [B, Tq, Tk] or, not averaged, [B, H, Tq, Tk]
///
/// Inputs without a batch are [T, E], and the results then have no B. A query that may attend to nothing
/// gives the bias of out_proj. is_causal needs no T x T mask in memory. With memory tokens, weights begin
/// with those of the tokens; positions count them as positions before the first.
///
/// Start: projections Xavier uniform, out_proj as Linear, biases zero. State dict: in_proj_weight, or with
/// another kdim or vdim q_proj_weight, k_proj_weight, v_proj_weight; in_proj_bias, out_proj.weight,
/// out_proj.bias; and what the options add: see the members.
///
/// Errors: an embed_dim that num_heads does not divide; other shapes than these; rotary with keys that are
/// not the query; past or dropout_p among the options; forms that exclude each other. An error leaves the
/// cache unchanged.
struct MultiheadAttention : Layer<MultiheadAttention> {
  MultiheadAttention(int64_t embed_dim, int64_t num_heads, MultiheadAttentionOptions options = {});

  AttentionResult forward(const Tensor& query, const Tensor& key, const Tensor& value,
                          const AttentionOptions& options = {}, KeyValueCache* cache = nullptr) const;
  /// Self-attention: x is query, key and value.
  AttentionResult forward(const Tensor& x, const AttentionOptions& options = {},
                          KeyValueCache* cache = nullptr) const {
    return forward(x, x, x, options, cache);
  }

  void visit(Visitor& v) override;

  int64_t embed_dim, num_heads, num_kv_heads, kdim, vdim;
  MultiheadAttentionOptions form;  ///< the options; parts with parameters are members of the layer
  Parameter in_proj_weight;  ///< [E + 2 Hkv D, E]: rows of W_q, W_k, W_v. Undefined if the next are defined.
  Parameter q_proj_weight, k_proj_weight, v_proj_weight;  ///< [E, E]; [Hkv D, kdim]; [Hkv D, vdim]
  Parameter in_proj_bias;                                 ///< [E + 2 Hkv D], undefined without bias
  Linear out_proj;                                        ///< [E, E]
  /// With latents of width L, and R rotated coordinates: q_proj_weight is [H (D + R), E], kv_a_proj [L + R,
  /// kdim], kv_b_proj [H 2 D, L] with D rows for keys and D for values in each head. No in_proj_bias.
  std::optional<Linear> kv_a_proj, kv_b_proj;
  std::optional<Linear> gate_proj;                       ///< [H, E] or [E, E], without bias
  Parameter qk_scale;                                    ///< [1], g of qk_norm
  Parameter sinks;                                       ///< [H], with sink_logit
  Parameter memory_k, memory_v;                          ///< [Hkv, memory_tokens, D]
  Parameter lambda_q1, lambda_k1, lambda_q2, lambda_k2;  ///< [D / 2], a, b, c, d of differential
  std::optional<RMSNorm> subln;                          ///< [D], of each head's output
  Parameter mix_scores, mix_weights;                     ///< [H, H], of talking_heads
};

}  // namespace heed
