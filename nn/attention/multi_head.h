#pragma once

#include "nn/attention/key_value_cache.h"
#include "nn/attention/scaled_dot_product.h"

/// Attention with several heads.
namespace heed {

/// Options of MultiheadAttention.
struct MultiheadAttentionOptions {
  bool bias = true;                  ///< Of all projections.
  double dropout = 0;                ///< Probability that a weight is zeroed in training.
  std::optional<int64_t> kdim = {};  ///< Width of the keys; embed_dim by default.
  std::optional<int64_t> vdim = {};  ///< Width of the values; embed_dim by default.
  bool rotary = false;               ///< Rotate queries and keys by their positions; only in self-attention.
};

/// Attention with several heads: softmax(Q K^T / sqrt(D)) V per head; the heads are joined and projected
/// (Vaswani et al., 2017).
///
///   query      [B, Tq, E]     E = embed_dim, H heads of width D = E / H
///   key        [B, Tk, kdim]  for self-attention give only the query;
///   value      [B, Tk, vdim]  give both undefined to attend only to the cached positions
///   options    a Mask or AttentionOptions; mask and bias broadcast to [B, H, Tq, Tk]; [B, Tq, Tk] is for
///              every head
///   cache      keys and values are appended to it, and the query attends to all cached positions
///   returns    output [B, Tq, E]; with need_weights the weights [B, Tq, Tk] or, not averaged, [B, H, Tq, Tk]
///
/// Inputs without a batch are [T, E], and the results then have no B. A query that may attend to nothing
/// gives the bias of out_proj. is_causal needs no T x T mask in memory.
///
/// Start: projections Xavier uniform, out_proj as Linear, biases zero. State dict: in_proj_weight, or with
/// another kdim or vdim q_proj_weight, k_proj_weight, v_proj_weight; in_proj_bias, out_proj.weight,
/// out_proj.bias.
///
/// Errors: an embed_dim that num_heads does not divide; other shapes than these; rotary with keys that are
/// not the query; past or dropout_p among the options. An error leaves the cache unchanged.
struct MultiheadAttention : Layer<MultiheadAttention> {
  MultiheadAttention(int64_t embed_dim, int64_t num_heads, MultiheadAttentionOptions options = {});

  AttentionResult forward(const Tensor& query, const Tensor& key, const Tensor& value,
                          const AttentionOptions& options = {}, KeyValueCache* cache = nullptr) const;
  /// Self-attention: x is query, key and value.
  AttentionResult forward(const Tensor& x, const AttentionOptions& options = {},
                          KeyValueCache* cache = nullptr) const {
    return forward(x, x, x, options, cache);
  }

  void visit(Visitor& v) override {
    v("in_proj_weight", in_proj_weight);
    v("q_proj_weight", q_proj_weight);
    v("k_proj_weight", k_proj_weight);
    v("v_proj_weight", v_proj_weight);
    v("in_proj_bias", in_proj_bias);
    v("out_proj", out_proj);
  }

  int64_t embed_dim, num_heads, kdim, vdim;
  double dropout;
  bool rotary;
  Parameter in_proj_weight;  ///< [3E, E]: rows of W_q, W_k, W_v. Undefined if the next three are defined.
  Parameter q_proj_weight, k_proj_weight, v_proj_weight;  ///< [E, E]; [E, kdim]; [E, vdim]
  Parameter in_proj_bias;                                 ///< [3E], undefined without bias
  Linear out_proj;                                        ///< [E, E]
};

}  // namespace heed
