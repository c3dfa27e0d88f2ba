#pragma once

#include "autograd/ops/softmax.h"
#include "nn/attention/mask.h"
#include "nn/attention/score.h"

/// The second of the three stages of attention: a normaliser turns scores into weights.
///
///   scores   [..., Tq, Tk]
///   mask     which query may attend to which key
///   returns  [..., Tq, Tk]   each row sums to 1, or to 0 if the query may attend to nothing
///
/// Your own normaliser is a type with such an operator() and, if it has parameters, `visit`.
namespace heed {

/// What AttentionPooling accepts as a normaliser.
template <class N>
concept Normaliser = std::is_invocable_r_v<Tensor, const N&, const Tensor&, const Mask&>;

/// exp(s_j) / sum_k exp(s_k) over the keys that the mask allows.
struct SoftmaxNormaliser {
  Tensor operator()(const Tensor& scores, const Mask& mask) const { return masked_softmax(scores, mask); }
};

/// max(s_j - t, 0) with t such that the row sums to 1: most weights are exactly 0 (Martins and Astudillo
/// 2016).
struct SparsemaxNormaliser {
  Tensor operator()(const Tensor& scores, const Mask& mask) const { return sparsemax(scores, mask); }
};

/// Hard attention: samples one key for each query from softmax(s) and gives it weight 1. The mean over many
/// samples is soft attention. Sampling is not differentiable, so the gradient is that of the softmax
/// (straight-through; Bengio, Leonard and Courville 2013).
struct HardNormaliser {
  Tensor operator()(const Tensor& scores, const Mask& mask) const;
};

/// entmax: for an alpha between 1 and 2, many weights are exactly 0 and the others more even than those of
/// sparsemax (Peters, Niculae and Martins, 2019).
struct EntmaxNormaliser {
  Tensor operator()(const Tensor& scores, const Mask& mask) const { return entmax(scores, alpha, mask); }

  double alpha = 1.5;
};

/// sigmoid(s_j + bias): each weight is by itself, so a row need not sum to 1 (Ramapuram et al., 2024). The
/// default bias is -log n with the number n of keys that the query may attend to; all together then begin
/// near 1.
struct SigmoidNormaliser {
  Tensor operator()(const Tensor& scores, const Mask& mask) const;

  std::optional<double> bias = {};
};

/// softmax((s + G) / tau) with Gumbel noise G = -log(-log(u)), uniform u: nearly hard choices for a small
/// tau, with a gradient (Jang, Gu and Poole 2017). With `hard` the largest weight becomes 1 and the others 0;
/// the gradient stays that of the soft weights.
struct GumbelNormaliser {
  Tensor operator()(const Tensor& scores, const Mask& mask) const;

  double tau = 1;
  bool hard = false;
};

/// Expected alignment of monotonic attention: query i begins at the key that query i - 1 chose, passes over
/// key j with probability 1 - p_ij, and chooses it with p_ij = sigmoid(s_ij) (Raffel et al., 2017). The first
/// begins at key 0. A row sums to less than 1 if all keys may be passed over.
///
///   q_ij = (1 - p_i,j-1) q_i,j-1 + a_i-1,j   a_ij = p_ij q_ij
///
/// With `hard`, p_ij is 1 where s_ij > 0, else 0: the alignment at test time, which needs no later keys.
struct MonotonicNormaliser {
  Tensor operator()(const Tensor& scores, const Mask& mask) const;

  bool hard = false;
};

/// What sample_hard draws.
struct HardSample {
  Tensor weights;   ///< [..., Tq, Tk], 1 at the chosen key; no gradient
  Tensor log_prob;  ///< [..., Tq], of the choice; 0 for a query that may attend to nothing
};
/// Hard attention without a relaxed gradient: one key for each query from softmax(s). Its log-probability is
/// trained by F::reinforce_loss (Xu et al., 2015).
HardSample sample_hard(const Tensor& scores, const Mask& mask = {});

/// A running mean of rewards: REINFORCE subtracts it, which keeps the mean of the gradient and lowers its
/// variance.
struct RewardBaseline {
  /// The mean before these rewards, 0 at first; it then moves by 1 - decay to theirs.
  double operator()(const Tensor& rewards);

  double decay = 0.9, mean = 0;
};

namespace F {

/// -mean((reward - baseline) log_prob): its gradient is an unbiased estimate of that of the mean reward, with
/// the sign of a loss (Williams 1992). The reward is a constant and broadcasts to log_prob. The mean is over
/// the positions where the mask, bool, is true: those that are no padding.
Tensor reinforce_loss(Operand log_prob, Operand reward, double baseline = 0, const Tensor& mask = {});

}  // namespace F

/// A normaliser chosen at run time.
using AnyNormaliser = AnyCallable<const Tensor&, const Mask&>;

/// The normaliser of this name, one of normaliser_names(), with its default values. Throws for another name.
AnyNormaliser make_normaliser(const std::string& name);
/// softmax, sparsemax, hard, entmax, sigmoid, gumbel.
const std::vector<std::string>& normaliser_names();

}  // namespace heed
