#pragma once

#include "nn/any_callable.h"
#include "nn/layers/linear.h"

/// The first of the three stages of attention: a score measures how well a key matches a query.
///
///   q        [..., Tq, dq]
///   k        [..., Tk, dk]
///   returns  [..., Tq, Tk]   one row of scores for each query
///
/// Your own score is a type with such an operator() and, if it has parameters, `visit` like a module:
///
///   struct LaplaceScore {
///     Tensor operator()(const Tensor& q, const Tensor& k) const {
///       return -beta * sum(abs(unsqueeze(q, -2) - unsqueeze(k, -3)), -1);
///     }
///     void visit(Visitor& v) { v("beta", beta); }
///
///     Parameter beta = ones({1});
///   };
///   AttentionPooling pooling{LaplaceScore()};
///
/// A score that applies a Linear to the keys first may take `const CachedKeys& k` and read k.mapped_by(W).
namespace heed {

/// Keys that are used with one query after the other, as in a decoder's loop. A score computes only once what
/// depends on the keys alone. Any tensor converts to CachedKeys.
///
///   const CachedKeys keys(states);
///   for (...) context = attention(query, keys, states, mask).output;
///
/// Not thread-safe.
class CachedKeys : public Tensor {
 public:
  /// Any tensor [..., Tk, dk].
  CachedKeys(const Tensor& keys) : Tensor(keys) {}
  /// map(keys). Computed again only for another `map`, after a write to its parameters, or after recording
  /// was switched on or off.
  const Tensor& mapped_by(const Linear& map) const;

 private:
  // The map that made mapped_, the versions of its parameters, and whether that was recorded.
  mutable std::tuple<const Linear*, int64_t, bool> source_;
  mutable Tensor mapped_;
};

/// What AttentionPooling accepts as a score.
template <class S>
concept Score = std::is_invocable_r_v<Tensor, const S&, const Tensor&, const CachedKeys&>;

/// q . k, for queries and keys of one width.
struct DotScore {
  Tensor operator()(const Tensor& q, const Tensor& k) const;
};

/// q . k / sqrt(d) (Vaswani et al., 2017). For independent q and k of unit variance, q . k has variance d.
struct ScaledDotScore {
  Tensor operator()(const Tensor& q, const Tensor& k) const;
};

/// w_v . tanh(W_q q + W_k k) (Bahdanau, Cho and Bengio 2015), without biases. Start: as Linear. State dict:
/// W_q.weight, W_k.weight, w_v.weight.
struct AdditiveScore {
  /// Widths of queries, of keys and of the hidden layer.
  AdditiveScore(int64_t query_dim, int64_t key_dim, int64_t hidden)
      : W_q(query_dim, hidden, {.bias = false}),
        W_k(key_dim, hidden, {.bias = false}),
        w_v(hidden, 1, {.bias = false}) {}
  Tensor operator()(const Tensor& q, const CachedKeys& k) const;
  void visit(Visitor& v) { v("W_q", W_q, "W_k", W_k, "w_v", w_v); }

  Linear W_q, W_k, w_v;  ///< [hidden, dq]; [hidden, dk]; [1, hidden]
};

/// q . (W k) with W [dq, dk], or in the other order k . (W q) with W [dk, dq] (Luong, Pham and Manning 2015).
/// Start: as Linear. State dict: W.weight.
struct BilinearScore {
  enum class Order {
    query_key,  ///< q . (W k)
    key_query,  ///< k . (W q)
  };
  /// Widths of queries and keys.
  BilinearScore(int64_t query_dim, int64_t key_dim, Order form = Order::query_key)
      : order(form),
        W(order == Order::query_key ? key_dim : query_dim, order == Order::query_key ? query_dim : key_dim,
          {.bias = false}) {}
  Tensor operator()(const Tensor& q, const CachedKeys& k) const;
  void visit(Visitor& v) { v("W", W); }

  Order order;
  Linear W;  ///< [dq, dk] or [dk, dq]
};

/// (L q) . (H k): the bilinear score with W = L^T H of rank at most `rank`, without biases. Start: as Linear.
/// State dict: L.weight, H.weight.
struct LowRankBilinearScore {
  /// Widths of queries and keys, and the rank.
  LowRankBilinearScore(int64_t query_dim, int64_t key_dim, int64_t rank)
      : L(query_dim, rank, {.bias = false}), H(key_dim, rank, {.bias = false}) {}
  Tensor operator()(const Tensor& q, const CachedKeys& k) const;
  void visit(Visitor& v) { v("L", L, "H", H); }

  Linear L, H;  ///< [rank, dq]; [rank, dk]
};

/// q . tanh(W k + b): one dense layer on the keys. Start: as Linear. State dict: W.weight, W.bias.
struct DenseScore {
  /// Widths of queries and keys.
  DenseScore(int64_t query_dim, int64_t key_dim) : W(key_dim, query_dim) {}
  Tensor operator()(const Tensor& q, const CachedKeys& k) const;
  void visit(Visitor& v) { v("W", W); }

  Linear W;  ///< [dq, dk] and bias [dq]
};

/// (|q_i - k_j| w)^2, [..., Tq, Tk]. Queries and keys are numbers, [Tq] and [Tk], or vectors of one width,
/// [..., Tq, d] and [..., Tk, d]; w is one number and 1/w the kernel's width. Errors: other shapes.
Tensor squared_distances(Operand queries, Operand keys, Operand w);

/// -(|q - k| w)^2 / 2. With softmax this is kernel regression with the Gaussian kernel of width 1/w. State
/// dict: w.
struct GaussianScore {
  /// Start value of w.
  explicit GaussianScore(double start = 1) : w(full({1}, start)) {}
  Tensor operator()(const Tensor& q, const Tensor& k) const { return -0.5 * squared_distances(q, k, w); }
  void visit(Visitor& v) { v("w", w); }

  Parameter w;  ///< [1]
};

/// beta cos(q, k), for queries and keys of one width: how well their directions agree (Graves, Wayne and
/// Danihelka 2014). State dict: beta.
struct CosineScore {
  /// Start value of beta.
  explicit CosineScore(double start = 1) : beta(full({1}, start)) {}
  Tensor operator()(const Tensor& q, const Tensor& k) const;
  void visit(Visitor& v) { v("beta", beta); }

  Parameter beta;  ///< [1]
};

/// A score chosen at run time.
using AnyScore = AnyCallable<const Tensor&, const CachedKeys&>;

/// The score of this name, one of score_names(). `hidden` is the width inside `additive` and the rank of
/// `low_rank`. Throws for another name.
AnyScore make_score(const std::string& name, int64_t query_dim, int64_t key_dim, int64_t hidden);
/// dot, scaled_dot, additive, bilinear, low_rank, dense, gaussian.
const std::vector<std::string>& score_names();

}  // namespace heed
