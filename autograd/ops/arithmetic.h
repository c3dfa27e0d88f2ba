#pragma once

#include "autograd/operand.h"

/// Elementwise arithmetic. `a` and `b` broadcast, and either may be a C++ number. Sums and products of int64
/// wrap around. Throws for shapes that do not broadcast, for different dtypes, for bool, and for a number
/// that the other operand's dtype cannot hold.
namespace heed {

Tensor operator+(Operand a, Operand b);  ///< a + b
Tensor operator-(Operand a, Operand b);  ///< a - b
Tensor operator*(Operand a, Operand b);  ///< a b, elementwise; matmul is the matrix product
Tensor operator/(Operand a, Operand b);  ///< a / b, floating
Tensor operator-(Operand x);             ///< -x

Tensor add(Operand a, Operand b, Scalar alpha = 1);        ///< a + alpha b
Tensor sub(Operand a, Operand b, Scalar alpha = 1);        ///< a - alpha b
inline Tensor mul(Operand a, Operand b) { return a * b; }  ///< a b, elementwise
inline Tensor div(Operand a, Operand b) { return a / b; }  ///< a / b, floating
inline Tensor neg(Operand x) { return -x; }                ///< -x

}  // namespace heed
