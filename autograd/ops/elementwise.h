#pragma once

#include <optional>

#include "autograd/operand.h"

/// Functions of each element by itself.
namespace heed {

Tensor abs(Operand x);
Tensor exp(Operand x);
Tensor expm1(Operand x);
Tensor log(Operand x);
Tensor log1p(Operand x);
Tensor sqrt(Operand x);
Tensor rsqrt(Operand x);       // 1 / sqrt(x)
Tensor reciprocal(Operand x);  // 1 / x
Tensor square(Operand x);
Tensor sin(Operand x);
Tensor cos(Operand x);
Tensor tanh(Operand x);
Tensor sigmoid(Operand x);  // 1 / (1 + exp(-x))
Tensor erf(Operand x);
Tensor sign(Operand x);
Tensor floor(Operand x);
Tensor relu(Operand x);
Tensor silu(Operand x);  // x sigmoid(x)
Tensor leaky_relu(Operand x, double negative_slope = 0.01);
Tensor elu(Operand x, double alpha = 1);  // x > 0 ? x : alpha (exp(x) - 1)
// log(1 + exp(beta x)) / beta, x where beta x is above the threshold
Tensor softplus(Operand x, double beta = 1, double threshold = 20);
Tensor clamp(Operand x, Operand min = {}, Operand max = {});  // bounds are numbers, tensors, or left out
enum class Gelu { none, tanh };
Tensor gelu(Operand x, Gelu approximate = Gelu::none);  // x Phi(x), or its tanh approximation

Tensor pow(Operand a, Operand b);
Tensor maximum(Operand a, Operand b);
Tensor minimum(Operand a, Operand b);

}  // namespace heed
