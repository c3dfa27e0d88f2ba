#pragma once

#include "autograd/dims.h"
#include "autograd/operand.h"

/// Probabilities from scores, along one dimension; x is floating and the result has its shape.
namespace heed {

/// exp(x_i) / sum_j exp(x_j), without overflow.
Tensor softmax(Operand x, Dim dim);
/// x_i - log sum_j exp(x_j)
Tensor log_softmax(Operand x, Dim dim);
/// softmax over the positions where the mask is true and x > -inf, 0 elsewhere; 0 with gradient 0 if there
/// are none. The mask is bool and broadcasts with x.
Tensor masked_softmax(Operand x, Operand mask = {}, Dim dim = -1);
/// The probabilities nearest to x: max(x - t, 0) with t such that they sum to 1; many are exactly 0 (Martins
/// and Astudillo, 2016). The mask as in masked_softmax.
Tensor sparsemax(Operand x, Operand mask = {}, Dim dim = -1);
/// Between softmax (alpha = 1) and sparsemax (alpha = 2): max((alpha - 1) x - t, 0)^(1 / (alpha - 1)) with t
/// such that they sum to 1. In closed form for 1.5 (Peters, Niculae and Martins, 2019), otherwise by
/// bisection. The mask as in masked_softmax. Errors: an alpha below 1.
Tensor entmax(Operand x, double alpha = 1.5, Operand mask = {}, Dim dim = -1);

}  // namespace heed
