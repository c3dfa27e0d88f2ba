#pragma once

#include "autograd/operand.h"

/// Arithmetic, element by element. `a` and `b` broadcast, and a C++ number may stand for either.
namespace heed {

Tensor operator+(Operand a, Operand b);
Tensor operator-(Operand a, Operand b);
Tensor operator*(Operand a, Operand b);
Tensor operator/(Operand a, Operand b);
Tensor operator-(Operand x);

Tensor add(Operand a, Operand b, Number alpha = 1);  // a + alpha b
Tensor sub(Operand a, Operand b, Number alpha = 1);  // a - alpha b
enum class Rounding { none, floor, trunc };
Tensor div(Operand a, Operand b, Rounding rounding = Rounding::none);
inline Tensor mul(Operand a, Operand b) { return a * b; }
inline Tensor neg(Operand x) { return -x; }

}  // namespace heed
