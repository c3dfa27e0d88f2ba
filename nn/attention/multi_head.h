#pragma once

#include "nn/attention/position.h"
#include "nn/functional.h"
#include "nn/layers/linear.h"

/// Attention with several heads, and the cache for decoding step by step.
namespace heed {

/// The projected keys and values of positions that attention has seen, so that decoding does not compute
/// them again. A value: a copy stays as it is when the other goes on. Keeps history, so gradients flow
/// through it where recording is on.
class KeyValueCache {
 public:
  /// Adds positions: keys [B, H, t, D], values [B, H, t, Dv]. Error for another B or H than those held.
  void append(const Tensor& keys, const Tensor& values);
  /// Forgets all positions but the first `length`. Errors: more than it holds.
  void roll_back(int64_t length);
  /// Row i of the batch becomes what row rows[i] was; rows is int64 [B'], with repetitions as in beam search.
  void select(const Tensor& rows);

  /// The number of positions held.
  int64_t length() const { return keys_.defined() ? keys_.size(2) : 0; }
  Tensor keys() const { return keys_; }      ///< [B, H, length, D], undefined while empty
  Tensor values() const { return values_; }  ///< [B, H, length, Dv]

 private:
  struct Room;
  std::shared_ptr<Room> room_;  // that keys_ and values_ are views of, if any: see Note [Room to grow]
  Tensor keys_, values_;
};

/// Choices of MultiheadAttention.
struct MultiheadAttentionOptions {
  bool bias = true;                  ///< of all projections
  double dropout = 0;                ///< of the weights, while training
  std::optional<int64_t> kdim = {};  ///< width of the keys, embed_dim without
  std::optional<int64_t> vdim = {};  ///< width of the values
  bool rotary = false;               ///< turn queries and keys by their positions; self-attention only
};

/// How one call attends. A Mask alone is such options too.
struct AttendOptions {
  Mask mask = {};                    ///< broadcasts to [B, H, Tq, Tk]; [B, Tq, Tk] holds for every head
  Tensor bias = {};                  ///< added to the scores; of the same shapes
  bool is_causal = false;            ///< no query attends to later positions: Mask::causal without its memory
  bool need_weights = false;         ///< give the weights too
  bool average_attn_weights = true;  ///< weights [B, Tq, Tk], the mean over the heads; else [B, H, Tq, Tk]
  KeyValueCache* cache = nullptr;    ///< attend to all it holds, after adding the keys and values given
};
/// Where a call takes AttendOptions, a mask alone will do.
inline Mask::operator AttendOptions() const { return {.mask = *this}; }

/// Attention with several heads: softmax(Q K^T / sqrt(D)) V per head, heads joined and projected.
///
///   query      [B, Tq, E]     E = embed_dim, H heads of width D = E / H
///   key        [B, Tk, kdim]  give the query alone for self-attention;
///   value      [B, Tk, vdim]  both undefined: nothing new, the cache has it all
///   options    a Mask, or AttendOptions
///   returns    output [B, Tq, E], and weights when asked for
///
/// Without a batch all are [T, E] and the results have no B. Batches come first, always. A query that may
/// attend to nothing gives the bias of out_proj.
///
/// Start: projections Xavier uniform, out_proj as Linear, biases zero. State dict: in_proj_weight, or with
/// kdim or vdim q_proj_weight, k_proj_weight, v_proj_weight; in_proj_bias, out_proj.weight, out_proj.bias.
///
/// Errors: embed_dim that num_heads does not divide; shapes other than these; rotary for keys that are not
/// the query.
struct MultiheadAttention : Layer<MultiheadAttention> {
  /// E = embed_dim is the width of queries and of the output, embed_dim / num_heads that of a head.
  MultiheadAttention(int64_t embed_dim, int64_t num_heads, MultiheadAttentionOptions options = {});

  /// The output, and the weights if the options ask for them.
  F::Attention forward(const Tensor& query, const Tensor& key, const Tensor& value,
                       const AttendOptions& options = {}) const;
  /// Self-attention: x is query, key and value.
  F::Attention forward(const Tensor& x, const AttendOptions& options = {}) const {
    return forward(x, x, x, options);
  }

  void visit(Visitor& v) override {
    v("in_proj_weight", in_proj_weight);
    v("q_proj_weight", q_proj_weight);
    v("k_proj_weight", k_proj_weight);
    v("v_proj_weight", v_proj_weight);
    v("in_proj_bias", in_proj_bias);
    v("out_proj", out_proj);
  }

  int64_t embed_dim, num_heads, kdim, vdim;  ///< E; H; the width of keys; that of values
  double dropout;                            ///< of the weights, while training
  bool rotary;                               ///< whether queries and keys are turned by their positions
  Parameter in_proj_weight;                  ///< [3E, E]: the rows of W_q, W_k, W_v; or the next three
  Parameter q_proj_weight, k_proj_weight, v_proj_weight;  ///< [E, E]; [E, kdim]; [E, vdim]
  Parameter in_proj_bias;                                 ///< [3E], undefined without bias
  Linear out_proj;                                        ///< [E, E]
};

}  // namespace heed
