#pragma once

#include "autograd/ops/arithmetic.h"

/// Functions of each element; the result has the shape of x. Throws unless x is floating, or int64 where the
/// comment says so.
namespace heed {

Tensor abs(Operand x);         ///< |x|; also int64
Tensor exp(Operand x);         ///< e^x
Tensor expm1(Operand x);       ///< e^x - 1, exact near 0
Tensor log(Operand x);         ///< The natural logarithm: -inf at 0, NaN below.
Tensor log1p(Operand x);       ///< log(1 + x), exact near 0
Tensor log2(Operand x);        ///< The logarithm to base 2.
Tensor sqrt(Operand x);        ///< The square root; NaN below 0.
Tensor rsqrt(Operand x);       ///< 1 / sqrt(x)
Tensor reciprocal(Operand x);  ///< 1 / x
Tensor square(Operand x);      ///< x^2; also int64
Tensor sin(Operand x);         ///< The sine of x radians.
Tensor cos(Operand x);         ///< The cosine of x radians.
Tensor tanh(Operand x);        ///< (e^x - e^-x) / (e^x + e^-x)
Tensor sigmoid(Operand x);     ///< 1 / (1 + e^-x)
Tensor erf(Operand x);         ///< The error function, 2 / sqrt(pi) times the integral of exp(-t^2), 0 to x.
Tensor sign(Operand x);        ///< -1, 0 or 1, with gradient 0; also int64
/// a^b; `a` and `b` broadcast. NaN if a < 0 and b is not an integer.
Tensor pow(Operand a, Operand b);
/// The angle of the point (b, a) in radians, in [-pi, pi]; `a` and `b` broadcast.
Tensor atan2(Operand a, Operand b);

}  // namespace heed
