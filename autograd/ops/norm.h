#pragma once

#include "autograd/operand.h"

/// Normalization over the last dimensions, over a batch, and over groups of channels.
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

/// Normalizes each channel: (x - mean) / sqrt(var + eps) * weight + bias (Ioffe and Szegedy, 2015).
///
///   x                  [N, C, ...], floating
///   running_mean, running_var, weight, bias    [C]; weight and bias are 1 and 0 if omitted
///   returns            the shape of x
///
/// In training mean and biased variance are those of the channel in the batch, and the running ones, if they
/// are defined, become (1 - momentum) old + momentum new, with the unbiased variance; an empty batch does not
/// change them. Otherwise the running ones are used. Throws for another shape or dtype, in training for a
/// single value in each channel, and in evaluation for undefined running_mean or running_var.
Tensor batch_norm(Operand x, const Tensor& running_mean, const Tensor& running_var, Operand weight = {},
                  Operand bias = {}, bool training = false, double momentum = 0.1, double eps = 1e-5);
/// Normalizes groups of channels of each example: (x - mean) / sqrt(var + eps) * weight + bias, with mean and
/// biased variance over a group (Wu and He, 2018).
///
///   x              [N, C, ...], floating; num_groups divides C
///   weight, bias   [C]; 1 and 0 if omitted
///   returns        the shape of x
Tensor group_norm(Operand x, int64_t num_groups, Operand weight = {}, Operand bias = {}, double eps = 1e-5);

}  // namespace heed
