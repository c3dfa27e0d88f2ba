#pragma once

#include "autograd/dims.h"
#include "autograd/operand.h"

/// Variance and standard deviation over `dims`, by default over all dimensions; see reduce.h. x is floating.
namespace heed {

/// sum_i (x_i - mean)^2 / max(0, n - correction)
Tensor var(Operand x, Dims dims = {}, double correction = 1, bool keepdim = false);
/// sqrt(var), with gradient 0 where all x are equal.
Tensor stddev(Operand x, Dims dims = {}, double correction = 1, bool keepdim = false);
// var(x, 0, true) would be a correction of 1
template <std::same_as<bool> Bool>
Tensor var(Operand x, Dims dims, Bool correction, bool keepdim = false) = delete;
template <std::same_as<bool> Bool>
Tensor stddev(Operand x, Dims dims, Bool correction, bool keepdim = false) = delete;

}  // namespace heed
