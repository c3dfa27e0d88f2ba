#pragma once

#include "autograd/operand.h"

/// Normalization over the last dimensions.
namespace heed {

/// (x - mean) / sqrt(var + eps) * weight + bias, with mean and biased variance over the last dimensions (Ba,
/// Kiros and Hinton, 2016).
///
///   x              [..., normalized_shape], floating
///   weight, bias   [normalized_shape]; 1 and 0 if omitted
///   returns        the shape of x
///
/// Throws if x does not end in normalized_shape, or if weight or bias has another shape or dtype.
Tensor layer_norm(Operand x, const Shape& normalized_shape, Operand weight = {}, Operand bias = {},
                  double eps = 1e-5);
/// x / sqrt(mean(x^2) + eps) * weight (Zhang and Sennrich, 2019). Shapes and errors as in layer_norm.
Tensor rms_norm(Operand x, const Shape& normalized_shape, Operand weight = {}, double eps = 1e-6);

}  // namespace heed
