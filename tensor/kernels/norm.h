#pragma once

#include "tensor/tensor.h"

/// Normalisation of rows. x is any number of rows of n values, n being the size of `weight` and `bias`, both
/// of which may be undefined. xhat = (x - mean) / std, std^2 = mean((x - mean)^2) + eps; y = xhat weight +
/// bias.
namespace heed::kernel {

enum class Centre { mean, zero };  // zero: RMS norm, which takes 0 for the mean

struct NormResult {
  Tensor y;
  Tensor mean, scale;  // [rows]; scale = 1 / std, and no mean where it is zero
};
NormResult norm(Centre centre, const Tensor& x, int64_t n, const Tensor& weight, const Tensor& bias,
                double eps);

struct NormGradients {
  Tensor x, weight, bias;  // of weight and bias [n], as rows
};
NormGradients norm_backward(const Tensor& g, const Tensor& x, int64_t n, const Tensor& weight,
                            const NormResult& forward);

}  // namespace heed::kernel
