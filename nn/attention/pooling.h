#pragma once

#include "nn/attention/normaliser.h"
#include "nn/functional.h"

/// The third of the three stages of attention, the weighted sum of the values; and all three as a layer.
namespace heed {

/// The third of the three stages of attention: a query q against pairs of a key and a value is answered by
/// the weighted mean of the values, f(q) = sum_i alpha(q, k_i) v_i. Kernel regression and every attention
/// layer end in this function; they differ in how the weights come about.
///
///   weights  [..., Tq, Tk]   alpha: one row for each query, one column for each key
///   values   [..., Tk, dv]   or [Tk] for values that are numbers
///   returns  [..., Tq, dv]   or [..., Tq]
///
/// The width of queries and keys need not be that of the values: only the weights come in here. Errors:
/// weights for another number of keys than there are values.
Tensor attention_pool(Operand weights, Operand values);

/// Whether an observer of this thread wants attention weights.
inline bool attention_captured() { return Observer::any() && Observer::any_wants_attention(); }
/// Shows weights, [..., Tq, Tk], to the observers that want them; attention_pool does so for its own.
inline void capture_attention(const Tensor& weights) {
  if (!attention_captured()) return;
  Observer::each([seen = weights](Observer& observer) {  // a copy: observers may own and move `weights`
    if (observer.wants_attention()) observer.on_attention(seen);
  });
}

/// Choices of AttentionPooling.
struct AttentionPoolingOptions {
  double dropout = 0;  ///< of the weights, while training
};

/// Attention in its three stages, each of which may be replaced: score, normalise, weighted sum.
///
///   queries  [..., Tq, dq]
///   keys     [..., Tk, dk]; Keys where they stay the same over many calls
///   values   [..., Tk, dv]
///   mask     broadcasts to [..., Tq, Tk]; true = may attend
///   returns  output [..., Tq, dv] and weights [..., Tq, Tk]
///
/// A query that may attend to nothing gives 0. The state dict has the names of the score's members,
/// and those of the normaliser behind "normaliser.". Errors: a score or a mask of another shape.
template <class ScoreType, class NormaliserType = SoftmaxNormaliser>
class AttentionPooling : public Layer<AttentionPooling<ScoreType, NormaliserType>> {
  static_assert(
      Score<ScoreType>,
      "AttentionPooling: a score is called as Tensor operator()(const Tensor& q, const Tensor& k) const");
  static_assert(Normaliser<NormaliserType>,
                "AttentionPooling: a normaliser is called as Tensor operator()(const Tensor& scores, const "
                "Mask&) const");

 public:
  /// AttentionPooling pooling{DotScore()}: softmax, unless another normaliser is given.
  explicit AttentionPooling(ScoreType score, NormaliserType normaliser = {},
                            AttentionPoolingOptions options = {})
      : score(std::move(score)), normaliser(std::move(normaliser)), dropout(options.dropout) {
    F::check_dropout("AttentionPooling", "dropout", dropout);
  }

  /// Output and weights.
  F::Attention forward(const Tensor& queries, const Keys& keys, const Tensor& values,
                       const Mask& mask = {}) const {
    const Tensor clear = mask.zero_unattended(keys);
    const Tensor scores = clear.same_as(keys) ? score(queries, keys) : score(queries, Keys(clear));
    check(scores.dim() > 1 && scores.size(-2) == queries.size(-2) && scores.size(-1) == keys.size(-2),
          "AttentionPooling: queries are ", queries.shape(), ", keys ", keys.shape(), ", but the score made ",
          scores.shape(), "; it must be [..., Tq, Tk]");
    detail::check_fits_scores("mask", mask, scores.shape());
    const Tensor weights = F::dropout(normaliser(scores, mask), dropout, this->training());
    return {attention_pool(weights, values.same_as(keys) ? clear : mask.zero_unattended(values)), weights};
  }
  /// With one tensor for keys and values.
  F::Attention forward(const Tensor& queries, const Keys& keys, const Mask& mask = {}) const {
    return forward(queries, keys, keys, mask);
  }

  void visit(Visitor& v) override {
    if constexpr (Visitable<ScoreType>) score.visit(v);
    if constexpr (Visitable<NormaliserType>) v("normaliser", normaliser);
  }

  ScoreType score;            ///< queries and keys become scores
  NormaliserType normaliser;  ///< scores become weights
  double dropout;             ///< of the weights, while training
};

}  // namespace heed
