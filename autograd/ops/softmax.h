#pragma once

#include "autograd/operand.h"

/// Scores become probabilities.
namespace heed {

/// exp(x_i) / sum_j exp(x_j) along one dimension, without overflow; x is floating, the result of its shape.
Tensor softmax(Operand x, Dim dim);
/// x_i - log sum_j exp(x_j) along one dimension; x is floating, the result of its shape.
Tensor log_softmax(Operand x, Dim dim);
/// softmax over the positions where the mask is true and x above -inf; 0 elsewhere. A line without any is 0
/// and has the gradient 0. The mask is bool, an Error otherwise, and broadcasts with x.
Tensor masked_softmax(Operand x, Operand mask = {}, Dim dim = -1);
/// The probabilities nearest to x: max(x - t, 0), with t such that they sum to 1; many are exactly 0 (Martins
/// and Astudillo 2016). Masks as in masked_softmax.
Tensor sparsemax(Operand x, Operand mask = {}, Dim dim = -1);

}  // namespace heed
