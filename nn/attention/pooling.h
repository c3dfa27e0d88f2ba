#pragma once

#include "nn/attention/normaliser.h"
#include "nn/functional.h"

/// The third of the three stages of attention, the weighted sum of the values, and all three as a layer.
namespace heed {

/// What attention returns.
struct AttentionResult {
  Tensor output;   ///< [..., Tq, Dv]
  Tensor weights;  ///< [..., Tq, Tk], after dropout; undefined unless they are needed
  /// The tensors, for the hooks of modules.
  std::array<Tensor*, 2> tensors() { return {&output, &weights}; }
};

/// The third of the three stages of attention: the weighted mean of the values, f(q) = sum_i alpha(q, k_i)
/// v_i. Kernel regression and all attention layers end in this function; they differ in how they compute the
/// weights.
///
///   weights  [..., Tq, Tk]   alpha: one row for each query, one column for each key
///   values   [..., Tk, dv]   or [Tk] for values that are numbers
///   mask     of the weights: values that no query may attend to have no influence, even if NaN
///   returns  [..., Tq, dv]   or [..., Tq]
///
/// Queries and keys may have another width than the values. Errors: the weights are for another number of
/// keys than there are values.
Tensor attention_pool(Operand weights, Operand values, const Mask& mask = {});

/// Whether an observer of this thread wants attention weights.
inline bool attention_captured() { return Observer::any() && Observer::any_wants_attention(); }
/// Passes weights, [..., Tq, Tk], to the observers that want them. attention_pool calls it.
inline void capture_attention(const Tensor& weights) {
  if (!attention_captured()) return;
  Observer::each([seen = weights](Observer& observer) {  // a copy, because an observer may move `weights`
    if (observer.wants_attention()) observer.on_attention(seen);
  });
}

/// Options of AttentionPooling.
struct AttentionPoolingOptions {
  double dropout = 0;  ///< Probability that a weight is zeroed in training.
};

/// Attention in its three stages, each of which may be replaced: score, normalize, weighted sum.
///
///   queries  [..., Tq, dq]
///   keys     [..., Tk, dk]; CachedKeys if many calls use the same keys
///   values   [..., Tk, dv]
///   mask     broadcasts to [..., Tq, Tk]; true = may attend
///   returns  output [..., Tq, dv] and weights [..., Tq, Tk]
///
/// A query that may attend to nothing gives 0. State dict: the names of the score's members, and those of the
/// normaliser after "normaliser.". Errors: scores, weights or a mask of another shape.
template <class ScoreType, class NormaliserType = SoftmaxNormaliser>
struct AttentionPooling : Layer<AttentionPooling<ScoreType, NormaliserType>> {
  static_assert(
      Score<ScoreType>,
      "AttentionPooling: a score is called as Tensor operator()(const Tensor& q, const Tensor& k) const");
  static_assert(Normaliser<NormaliserType>,
                "AttentionPooling: a normaliser is called as Tensor operator()(const Tensor& scores, const "
                "Mask&) const");

  /// AttentionPooling pooling{DotScore()} normalizes by softmax.
  explicit AttentionPooling(ScoreType scoring, NormaliserType normalizing = {},
                            AttentionPoolingOptions options = {})
      : score(std::move(scoring)), normaliser(std::move(normalizing)), dropout(options.dropout) {
    F::check_dropout("AttentionPooling", "dropout", dropout);
  }

  AttentionResult forward(const Tensor& queries, const CachedKeys& keys, const Tensor& values,
                          const Mask& mask = {}) const {
    const Tensor attended = mask.zero_unattended(keys);  // keys of padding have no influence, even if NaN
    const Tensor scores =
        attended.same_as(keys) ? score(queries, keys) : score(queries, CachedKeys(attended));
    check_in("AttentionPooling",
             scores.dim() > 1 && scores.size(-2) == queries.size(-2) && scores.size(-1) == keys.size(-2),
             "queries are ", queries.shape(), ", keys ", keys.shape(), ", but the score made ",
             scores.shape(), "; it must be [..., Tq, Tk]");
    detail::check_fits_scores("mask", mask, scores.shape());
    const Tensor normalized = normaliser(scores, mask);
    check_in("AttentionPooling", normalized.shape() == scores.shape(), "the scores are ", scores.shape(),
             ", but the normaliser made ", normalized.shape(), "; it must keep the shape");
    const Tensor weights = F::dropout(normalized, dropout, this->training());
    return {attention_pool(weights, values, mask), weights};
  }
  /// One tensor for keys and values.
  AttentionResult forward(const Tensor& queries, const CachedKeys& keys, const Mask& mask = {}) const {
    return forward(queries, keys, keys, mask);
  }

  void visit(Visitor& v) override {
    if constexpr (Visitable<ScoreType>) score.visit(v);
    if constexpr (Visitable<NormaliserType>) v("normaliser", normaliser);
  }

  ScoreType score;
  NormaliserType normaliser;
  double dropout;
};

}  // namespace heed
