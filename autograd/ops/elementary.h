#pragma once

#include "autograd/operand.h"

/// The elementary functions of each element; the result has the shape of x. Throws unless x is floating, or
/// int64 where the comment says so. Further functions are in elementwise.h.
namespace heed {

Tensor abs(Operand x);      ///< |x|; also int64
Tensor exp(Operand x);      ///< e^x
Tensor expm1(Operand x);    ///< e^x - 1, exact near 0
Tensor log(Operand x);      ///< The natural logarithm: -inf at 0, NaN below.
Tensor log1p(Operand x);    ///< log(1 + x), exact near 0
Tensor sqrt(Operand x);     ///< The square root; NaN below 0.
Tensor rsqrt(Operand x);    ///< 1 / sqrt(x)
Tensor square(Operand x);   ///< x^2; also int64
Tensor sin(Operand x);      ///< The sine of x radians.
Tensor cos(Operand x);      ///< The cosine of x radians.
Tensor tanh(Operand x);     ///< (e^x - e^-x) / (e^x + e^-x)
Tensor sigmoid(Operand x);  ///< 1 / (1 + e^-x)

}  // namespace heed
