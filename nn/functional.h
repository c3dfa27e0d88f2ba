#pragma once

#include "autograd/ops/loss.h"
#include "tensor/random.h"

/// Layers as functions, without state; names and meanings are PyTorch's. heed.h adds the operations to this
/// namespace: F::relu, F::linear.
namespace heed::F {

using heed::CrossEntropyOptions;

/// Throws unless p is a probability.
inline void check_dropout(const char* layer, const char* argument, double p) {
  check_in(layer, p >= 0 && p <= 1, argument, " is ", p, "; a probability lies in [0, 1]");
}

/// In training, zeroes each value with probability p and multiplies the others by 1 / (1 - p); otherwise
/// returns x. Draws from the generator, or from the thread's default one. Errors: p outside of [0, 1].
Tensor dropout(Operand x, double p = 0.5, bool training = true, Generator* generator = nullptr);

// Losses. Input and target are floating and must have the same shape and dtype; only weights broadcast. The
// result is one number, the mean or the sum, or with Reduction::none it has the shape of the input.

/// (input - target)^2, reduced. Errors: input and target of different shape or dtype, as in all losses here.
Tensor mse_loss(Operand input, Operand target, Reduction reduction = Reduction::mean);
/// |input - target|, reduced.
Tensor l1_loss(Operand input, Operand target, Reduction reduction = Reduction::mean);
/// With d = |input - target|: d^2 / (2 beta) where d < beta, else d - beta / 2; reduced. Errors: beta < 0.
Tensor smooth_l1_loss(Operand input, Operand target, Reduction reduction = Reduction::mean, double beta = 1);
/// With d = |input - target|: d^2 / 2 where d < delta, else delta (d - delta / 2); reduced (Huber, 1964).
/// Errors: delta <= 0.
Tensor huber_loss(Operand input, Operand target, Reduction reduction = Reduction::mean, double delta = 1);

/// The Fenchel-Young loss of entmax: with p = entmax(input, alpha) over the classes, which are the last
/// dimension, and Tsallis' entropy H(p) = (1 - sum p^alpha) / (alpha (alpha - 1)),
///
///   H(p) + sum_c p_c input_c - input_target,   whose gradient is p - one_hot(target)
///
/// It is 0 where the target has probability 1 (Blondel, Martins and Niculae, 2020). For alpha = 1 it would be
/// cross_entropy.
///
///   input     [..., C]
///   target    [...]      int64 in [0, C)
///   returns   [...] unreduced
///
/// Errors: a target that is no class; an alpha of 1 or less.
Tensor entmax_loss(Operand input, Operand target, double alpha = 1.5, Reduction reduction = Reduction::mean);

/// Options of kl_div.
struct KlDivOptions {
  Reduction reduction = Reduction::mean;  ///< batchmean, the sum / size of dim 0, is the divergence.
  bool log_target = false;                ///< The target contains log-probabilities too.
};
/// target (log(target) - input), for log-probabilities `input`; reduced. 0 log 0 is 0.
Tensor kl_div(Operand input, Operand target, const KlDivOptions& options = {});

/// Options of binary_cross_entropy and binary_cross_entropy_with_logits.
struct BceOptions {
  Tensor weight = {};                     ///< Broadcasts to the input.
  Reduction reduction = Reduction::mean;  ///< Not batchmean.
  Tensor pos_weight = {};                 ///< Of the positive class; broadcasts; only with logits.
};
/// -weight (target log(input) + (1 - target) log(1 - input)), reduced. Logarithms below -100 continue as a
/// line of slope 1e12. Errors: an input outside of [0, 1].
Tensor binary_cross_entropy(Operand input, Operand target, const BceOptions& options = {});
/// The same for sigmoid(input), without overflow. pos_weight multiplies target log(sigmoid(input)).
Tensor binary_cross_entropy_with_logits(Operand input, Operand target, const BceOptions& options = {});

/// -weight[target] input[target]: the negative log-likelihood, from log-probabilities.
///
///   input      [N, C, d...], or [C]; with class_dim = -1 [..., C]
///   target     [N, d...], or []    int64 in [0, C)
///   returns    [N, d...] unreduced; the mean is weighted and ignores targets equal to ignore_index
///
/// Errors: a target that is neither a class nor ignore_index; label_smoothing among the options.
Tensor nll_loss(Operand input, Operand target, const CrossEntropyOptions& options = {});

/// -weight[target] log_softmax(input)[target], in one pass over the logits.
///
///   input      [N, C, d...], or [C]; with class_dim = -1 [..., C], such as [B, T, C] for a text
///   target     [N, d...], or []    int64 in [0, C); or of the input's shape: probabilities of the classes
///   returns    [N, d...] unreduced; the mean is weighted and ignores targets equal to ignore_index; for
///              probabilities it is the mean over all rows
///
/// For probabilities the loss is -sum_c weight[c] target_c log_softmax(input)_c. label_smoothing is as in
/// softmax_cross_entropy. Errors: a target that is neither a class nor ignore_index.
Tensor cross_entropy(Operand input, Operand target, const CrossEntropyOptions& options = {});

}  // namespace heed::F
