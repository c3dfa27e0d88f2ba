#pragma once

#include <optional>

#include "autograd/operand.h"

/// Functions of each element by itself: x of any shape, the result of the same. x is floating, and another
/// dtype an Error, unless "or int64" says that whole numbers will do.
namespace heed {

Tensor abs(Operand x);         ///< |x|; or int64
Tensor exp(Operand x);         ///< e^x
Tensor expm1(Operand x);       ///< e^x - 1, exact near 0
Tensor log(Operand x);         ///< The natural logarithm: -inf at 0, NaN below.
Tensor log1p(Operand x);       ///< log(1 + x), exact near 0
Tensor sqrt(Operand x);        ///< The square root; NaN below 0.
Tensor rsqrt(Operand x);       ///< 1 / sqrt(x)
Tensor reciprocal(Operand x);  ///< 1 / x
Tensor square(Operand x);      ///< x^2; or int64
Tensor sin(Operand x);         ///< The sine of x radians.
Tensor cos(Operand x);         ///< The cosine of x radians.
Tensor tanh(Operand x);        ///< (e^x - e^-x) / (e^x + e^-x)
Tensor sigmoid(Operand x);     ///< 1 / (1 + exp(-x))
Tensor erf(Operand x);    ///< The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.
Tensor sign(Operand x);   ///< -1, 0 or 1, with the gradient 0; or int64
Tensor floor(Operand x);  ///< The next whole number below, with the gradient 0; or int64
Tensor relu(Operand x);   ///< max(x, 0); or int64
Tensor silu(Operand x);   ///< x sigmoid(x)
/// x for x > 0, negative_slope x below.
Tensor leaky_relu(Operand x, double negative_slope = 0.01);
/// x for x > 0, alpha (exp(x) - 1) below.
Tensor elu(Operand x, double alpha = 1);
/// log(1 + exp(beta x)) / beta; x itself where beta x is above the threshold.
Tensor softplus(Operand x, double beta = 1, double threshold = 20);
/// min(max(x, min), max); or int64. Bounds are numbers, tensors that broadcast, or left out, but not both: an
/// Error. Where they cross, `max` holds.
Tensor clamp(Operand x, Operand min = {}, Operand max = {});
/// GELU by the normal distribution function, or by its approximation with tanh.
enum class Gelu { none, tanh };
/// x Phi(x), Phi the normal distribution function (Hendrycks and Gimpel, 2016); with Gelu::tanh
///
///   x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2
Tensor gelu(Operand x, Gelu approximate = Gelu::none);

/// a^b; `a` and `b` broadcast. NaN for a < 0 and b not whole.
Tensor pow(Operand a, Operand b);
/// The larger of a and b, which broadcast, or NaN; or int64. Equals share the gradient.
Tensor maximum(Operand a, Operand b);
/// The smaller of a and b, which broadcast, or NaN; or int64. Equals share the gradient.
Tensor minimum(Operand a, Operand b);

}  // namespace heed
