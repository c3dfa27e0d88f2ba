#pragma once

#include "autograd/dims.h"
#include "autograd/operand.h"

/// Variance, standard deviation and norms over `dims`, by default over all dimensions; see reduce.h. x is
/// floating.
namespace heed {

/// sum_i (x_i - mean)^2 / max(0, n - correction)
Tensor var(Operand x, Dims dims = {}, double correction = 1, bool keepdim = false);
/// sqrt(var), with gradient 0 where all x are equal.
Tensor stddev(Operand x, Dims dims = {}, double correction = 1, bool keepdim = false);
/// (sum_i |x_i|^p)^(1/p); for p = infinity the largest |x_i|, for -infinity the smallest, for 0 the number of
/// x_i that are not 0. The gradient is 0 where the norm is, and for p other than 2 where x_i is.
Tensor norm(Operand x, double p = 2, Dims dims = {}, bool keepdim = false);
// var(x, 0, true) would be a correction of 1
Tensor var(Operand x, Dims dims, std::same_as<bool> auto correction, bool keepdim = false) = delete;
Tensor stddev(Operand x, Dims dims, std::same_as<bool> auto correction, bool keepdim = false) = delete;

}  // namespace heed
