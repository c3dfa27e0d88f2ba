#pragma once

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/elementary.h"

/// Functions of each element; the result has the shape of x. Throws unless x is floating, or int64 where the
/// comment says so. Those that most of the library uses are in elementary.h, which changes rarely.
namespace heed {

Tensor log2(Operand x);        ///< The logarithm to base 2.
Tensor reciprocal(Operand x);  ///< 1 / x
Tensor erf(Operand x);         ///< The error function, 2 / sqrt(pi) times the integral of exp(-t^2), 0 to x.
Tensor sign(Operand x);        ///< -1, 0 or 1, with gradient 0; also int64
/// a^b; `a` and `b` broadcast. NaN if a < 0 and b is not an integer.
Tensor pow(Operand a, Operand b);
/// The angle of the point (b, a) in radians, in [-pi, pi]; `a` and `b` broadcast.
Tensor atan2(Operand a, Operand b);

}  // namespace heed
