#pragma once

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/elementary.h"

/// Functions of each element; the result has the shape of x. Throws unless x is floating, or int64 where the
/// comment says so. Those that most of the library uses are in elementary.h, which changes rarely.
namespace heed {

Tensor reciprocal(Operand x);  ///< 1 / x
Tensor erf(Operand x);         ///< The error function, 2 / sqrt(pi) times the integral of exp(-t^2), 0 to x.
Tensor sign(Operand x);        ///< -1, 0 or 1, with gradient 0; also int64
Tensor floor(Operand x);       ///< The largest integer that is at most x, with gradient 0; also int64
/// a^b; `a` and `b` broadcast. NaN if a < 0 and b is not an integer.
Tensor pow(Operand a, Operand b);
/// How a quotient is rounded: not at all, down, or towards zero.
enum class Rounding { none, floor, trunc };
/// a / b, rounded; `a` and `b` broadcast. The gradient of a rounded quotient is 0.
Tensor div(Operand a, Operand b, Rounding rounding);

}  // namespace heed
