#pragma once

#include "autograd/operand.h"

/// Normalisation over the last dimensions.
namespace heed {

/// (x - mean) / sqrt(var + eps) * weight + bias: mean and variance, divided by the number n, over the last
/// dimensions (Ba, Kiros and Hinton, 2016).
///
///   x              [..., normalized_shape], floating
///   weight, bias   [normalized_shape], or left out: 1 and 0
///   returns        the shape of x
///
/// Errors: x does not end in normalized_shape, or weight and bias have another shape or dtype.
Tensor layer_norm(Operand x, const Shape& normalized_shape, Operand weight = {}, Operand bias = {},
                  double eps = 1e-5);
/// x / sqrt(mean(x^2) + eps) * weight (Zhang and Sennrich, 2019). Shapes and errors as in layer_norm.
Tensor rms_norm(Operand x, const Shape& normalized_shape, Operand weight = {}, double eps = 1e-6);

}  // namespace heed
