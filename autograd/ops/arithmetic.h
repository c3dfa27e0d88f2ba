#pragma once

#include "autograd/operand.h"

/// Arithmetic, element by element. `a` and `b` broadcast, and a C++ number may stand for either.
namespace heed {

Tensor add(Operand a, Operand b, Number alpha = 1);  // a + alpha b
Tensor sub(Operand a, Operand b, Number alpha = 1);  // a - alpha b
Tensor mul(Operand a, Operand b);
enum class Rounding { none, floor, trunc };
Tensor div(Operand a, Operand b, Rounding rounding = Rounding::none);
Tensor neg(Operand x);

inline Tensor operator+(Operand a, Operand b) { return add(a, b); }
inline Tensor operator-(Operand a, Operand b) { return sub(a, b); }
inline Tensor operator*(Operand a, Operand b) { return mul(a, b); }
inline Tensor operator/(Operand a, Operand b) { return div(a, b); }
inline Tensor operator-(Operand x) { return neg(x); }

}  // namespace heed
