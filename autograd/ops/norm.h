#pragma once

#include "autograd/operand.h"

/// Normalisation over the last dimensions.
namespace heed {

/// (x - mean) / sqrt(var + eps) over the last dimensions, of `normalized_shape`, times weight plus bias.
Tensor layer_norm(Operand x, const Shape& normalized_shape, Operand weight = {}, Operand bias = {},
                  double eps = 1e-5);
/// x / sqrt(mean(x^2) + eps) over the last dimensions, times weight.
Tensor rms_norm(Operand x, const Shape& normalized_shape, Operand weight = {}, double eps = 1e-6);

}  // namespace heed
