#pragma once

#include "autograd/operand.h"

/// Activation functions of each element; tanh and sigmoid are in elementwise.h. Throws unless x is floating.
namespace heed {

Tensor relu(Operand x);  ///< max(x, 0); also int64
Tensor silu(Operand x);  ///< x sigmoid(x)
/// x for x > 0, negative_slope x for x <= 0.
Tensor leaky_relu(Operand x, double negative_slope = 0.01);
/// x for x > 0, alpha (exp(x) - 1) for x <= 0.
Tensor elu(Operand x, double alpha = 1);
/// log(1 + exp(beta x)) / beta; x where beta x > threshold.
Tensor softplus(Operand x, double beta = 1, double threshold = 20);
/// Whether GELU is exact or approximated by tanh.
enum class Gelu { none, tanh };
/// x Phi(x), with Phi the normal distribution function (Hendrycks and Gimpel, 2016). With Gelu::tanh
///
///   x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2
Tensor gelu(Operand x, Gelu approximate = Gelu::none);

}  // namespace heed
