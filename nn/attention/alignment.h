#pragma once

#include "nn/attention/pooling.h"

/// Attention whose weights are the output, or a hidden variable of it: pointers, copies, hard alignments.
namespace heed {

namespace F {

/// log softmax over the keys that the mask allows, -inf elsewhere: the logarithms of SoftmaxNormaliser's
/// weights, without overflow. -inf has no gradient.
Tensor masked_log_softmax(const Tensor& scores, const Mask& mask);

/// A mixture of generating and copying: gate generated + (1 - gate) sum_j weights_j [source_j = c] for each
/// class c (See, Liu and Manning 2017).
///
///   generated  [..., Tq, C]    probabilities of the classes
///   weights    [..., Tq, Tk]   of attention to the source
///   source     [..., Tk]       int64 in [0, C): the class of each source position
///   gate       [..., Tq, 1]    in [0, 1]
///   returns    [..., Tq, C]
///
/// Errors: shapes that do not fit; a source that is no class.
Tensor copy_mixture(Operand generated, Operand weights, Operand source, Operand gate);

/// The log-probability of an output whose position i is emitted by one source position a_i, summed over all
/// alignments that never go back: a_1 <= a_2 <= ... (Wu and Cotterell 2019). By dynamic programming, over
/// log sums f_i(j) of all ways that end at j:
///
///   f_i(j) = log p(y_i | j) + log sum_{k <= j} exp(f_i-1(k)) p(a_i = j | a_i-1 = k)
///   p(a_i = j | a_i-1 = k) = exp(s_ij) / sum_{j' >= k} exp(s_ij')   for j >= k;   a_0 = 0
///
///   log_emission  [..., Tq, Tk]   log p(y_i | a_i = j)
///   scores        [..., Tq, Tk]   s
///   mask          bool [..., Tk], true = may emit
///   returns       [...]
///
/// Its gradient with respect to log_emission is the probability of a_i = j given the whole output. Needs
/// memory for Tq Tk^2 numbers. Errors: shapes that do not fit; no positions.
Tensor hard_monotonic_log_prob(Operand log_emission, Operand scores, const Tensor& mask = {});

}  // namespace F

/// A pointer network: the log-probability that a query points at each key, log softmax(score) over the keys
/// that the mask allows (Vinyals, Fortunato and Jaitly 2015, with AdditiveScore). F::nll_loss with class_dim
/// = -1 trains it.
///
///   queries  [..., Tq, dq]
///   keys     [..., Tk, dk]
///   returns  [..., Tq, Tk]   -inf where the mask is false
///
/// State dict: that of the score.
template <class ScoreType>
struct Pointer : Layer<Pointer<ScoreType>> {
  explicit Pointer(ScoreType scoring) : score(std::move(scoring)) {}
  Tensor forward(const Tensor& queries, const CachedKeys& keys, const Mask& mask = {}) const {
    return F::masked_log_softmax(score(queries, CachedKeys(mask.zero_unattended(keys))), mask);
  }
  void visit(Visitor& v) override {
    if constexpr (Visitable<ScoreType>) score.visit(v);
  }

  ScoreType score;
};

}  // namespace heed
