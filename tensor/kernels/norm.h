#pragma once

#include "tensor/tensor.h"

/// Normalization of rows. x consists of rows of n elements, where n is the size of `weight` and `bias`.
/// Either may be undefined. y = xhat weight + bias with xhat = (x - mean) / std and std^2 = mean((x -
/// mean)^2) + eps.
namespace heed::kernel {

enum class Centre { mean, zero };  // zero: RMS norm, which uses 0 as the mean

struct NormResult {
  Tensor y;
  Tensor mean, scale;  // [rows]; scale = 1 / std; no mean for Centre::zero
};
NormResult norm(Centre centre, const Tensor& x, int64_t n, const Tensor& weight, const Tensor& bias,
                double eps);

struct NormGradients {
  Tensor x, weight, bias;  // weight and bias are [n]
};
NormGradients norm_backward(const Tensor& g, const Tensor& x, int64_t n, const Tensor& weight,
                            const NormResult& forward);

/// The same for each channel of x [N, C, ...]: y = (x - mean) factor + bias, where the others are [C, 1,
/// ...].
Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& factor, const Tensor& bias);
/// For weight, mean and scale = 1 / std [C], contiguous, with factor = scale weight; the results are [C] too.
/// Mean and std are those of x.
NormGradients batch_norm_backward(const Tensor& g, const Tensor& x, const Tensor& weight, const Tensor& mean,
                                  const Tensor& scale);

}  // namespace heed::kernel
