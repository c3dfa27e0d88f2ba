#pragma once

#include "autograd/operand.h"

/// Arithmetic, element by element: `a` and `b` broadcast, and a C++ number may stand for either. Errors:
/// shapes that do not broadcast, two dtypes, bool; a number that the dtype of the other cannot hold. Sums and
/// products of int64 wrap around.
namespace heed {

Tensor operator+(Operand a, Operand b);  ///< a + b
Tensor operator-(Operand a, Operand b);  ///< a - b
Tensor operator*(Operand a, Operand b);  ///< a b, element by element; products of matrices are matmul
Tensor operator/(Operand a, Operand b);  ///< a / b, floating
Tensor operator-(Operand x);             ///< -x

Tensor add(Operand a, Operand b, Scalar alpha = 1);  ///< a + alpha b
Tensor sub(Operand a, Operand b, Scalar alpha = 1);  ///< a - alpha b
/// What becomes of a quotient: nothing, the next whole number below, or the one towards zero.
enum class Rounding { none, floor, trunc };
/// a / b, floating; the gradient of a rounded quotient is 0.
Tensor div(Operand a, Operand b, Rounding rounding = Rounding::none);
inline Tensor mul(Operand a, Operand b) { return a * b; }  ///< a b, element by element
inline Tensor neg(Operand x) { return -x; }                ///< -x

}  // namespace heed
