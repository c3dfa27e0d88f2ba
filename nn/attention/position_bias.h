#pragma once

#include "nn/any_callable.h"
#include "nn/layers/embedding.h"
#include "nn/layers/linear.h"

/// Scores that depend on the distance of key and query: MultiheadAttention adds them to those of the
/// products.
///
///   distances   [N]: j - i for the keys j and queries i, from 1 - Tq - past to Tk - 1 - past, in the dtype
///   of
///               the queries. Keys before the query have negative distances.
///   returns     [H, N], a bias for each head, or [N] or [1, N] for all heads
///
/// Your own is any function of the distances, written in operations, or a type with such an operator() and,
/// if it has parameters, `visit`:
///
///   MultiheadAttention attention(64, 8, {.position_bias = [](const Tensor& d) { return -0.1 * abs(d); }});
namespace heed {

/// A bias chosen at run time.
using AnyPositionBias = AnyCallable<const Tensor&>;

/// -m_h |j - i| with a slope m_h for each head, without parameters: 2^(-8/H), 2^(-16/H), ..., 2^-8 if H is a
/// power of two, else those of the next smaller power and then every second of twice that power (ALiBi;
/// Press, Smith and Lewis 2022). Attention to longer sequences than those of training is possible.
struct AlibiBias {
  /// Errors: num_heads that is not positive.
  explicit AlibiBias(int64_t num_heads);
  Tensor operator()(const Tensor& distances) const;

  std::vector<double> slopes;  ///< [H]
};

/// Options of T5Bias.
struct T5BiasOptions {
  int64_t num_buckets = 32, max_distance = 128;
  bool bidirectional = true;  ///< Buckets for later keys too; false: those are in the bucket of distance 0.
};

/// A learned bias for each head and bucket of distances (Raffel et al., 2020). Start: zero. State dict:
/// relative_attention_bias.weight.
struct T5Bias {
  explicit T5Bias(int64_t num_heads, T5BiasOptions options = {});
  Tensor operator()(const Tensor& distances) const;
  void visit(Visitor& v) { v("relative_attention_bias", relative_attention_bias); }

  /// The bucket of each distance, int64: the first half of the buckets are one distance each, the others grow
  /// up to max_distance; the last has all that are further. If bidirectional, later keys have the second
  /// half.
  static Tensor bucket(const Tensor& distances, const T5BiasOptions& options = {});

  T5BiasOptions options;
  Embedding relative_attention_bias;  ///< [num_buckets, H]
};

/// -(j - p_i)^2 / (2 sigma^2): a bias that draws each query to the keys around a position p_i, which may be
/// predicted (Luong, Pham and Manning 2015, who multiply the weights by exp of it, with sigma = D / 2 for
/// windows of D keys on both sides).
///
///   centers  [..., Tq]
///   returns  [..., Tq, keys]
Tensor local_bias(Operand centers, int64_t keys, double sigma);

/// Scores of query and distance together; they are added to q . k / sqrt(D). They need all weights in memory.
///
///   q          [B, H, Tq, D]
///   k          [B, H, Tk, D]
///   distances  [Tq + Tk - 1], as for a bias
///   returns    [B, H, Tq, Tk]
using AnyRelativeScore = AnyCallable<const Tensor&, const Tensor&, const Tensor&>;

/// q_i . a_(j-i) / sqrt(D) with a learned vector for each distance up to max_distance; further ones have the
/// last (Shaw, Uszkoreit and Vaswani 2018; they also add vectors to the values, which did not change their
/// results). Start: normal with standard deviation 0.02. State dict: relative_keys.
struct ShawScore {
  ShawScore(int64_t head_dim, int64_t max_distance);
  Tensor operator()(const Tensor& q, const Tensor& k, const Tensor& distances) const;
  void visit(Visitor& v) { v("relative_keys", relative_keys); }

  Parameter relative_keys;  ///< [2 max_distance + 1, D], from -max_distance on
};

/// (u_h . k_j + (q_i + v_h) . W_h R_(i-j)) / sqrt(D), with R the sines and then the cosines of (i - j) /
/// 10000^(2n/E) (Transformer-XL; Dai et al., 2019). Start: u and v zero, W as Linear. State dict:
/// r_net.weight, r_w_bias, r_r_bias.
struct TransformerXLScore {
  TransformerXLScore(int64_t embed_dim, int64_t num_heads);
  Tensor operator()(const Tensor& q, const Tensor& k, const Tensor& distances) const;
  void visit(Visitor& v) { v("r_net", r_net, "r_w_bias", r_w_bias, "r_r_bias", r_r_bias); }

  Linear r_net;                  ///< W [E, E]
  Parameter r_w_bias, r_r_bias;  ///< u and v, each [H, D]
};

}  // namespace heed
