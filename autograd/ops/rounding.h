#pragma once

#include "autograd/ops/arithmetic.h"

/// Rounding, and remainders. Throws unless x is a number, or floating where the comment says so.
namespace heed {

Tensor floor(Operand x);  ///< The largest integer that is at most x, with gradient 0.
Tensor ceil(Operand x);   ///< The smallest integer that is at least x, with gradient 0.
/// The nearest multiple of 10^-decimals, with gradient 0: halves go to the even neighbor. int64 is not
/// changed.
Tensor round(Operand x, int64_t decimals = 0);
/// How a quotient is rounded: not at all, down, or towards zero.
enum class Rounding { none, floor, trunc };
/// a / b, rounded; `a` and `b` are floating and broadcast. The gradient of a rounded quotient is 0.
Tensor div(Operand a, Operand b, Rounding rounding);
/// The remainder a - b trunc(a / b), which has the sign of a; `a` and `b` broadcast. For b = 0 it is NaN, and
/// int64 throws.
Tensor fmod(Operand a, Operand b);

}  // namespace heed
