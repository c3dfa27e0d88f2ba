#pragma once

#include "autograd/operand.h"

/// Arithmetic and comparisons, element by element: what has an operator. `a` and `b` broadcast, and a C++ number
/// may stand for either.
namespace heed {

Tensor add(Operand a, Operand b, Number alpha = 1);  // a + alpha b
Tensor sub(Operand a, Operand b, Number alpha = 1);  // a - alpha b
Tensor mul(Operand a, Operand b);
enum class Rounding { none, floor, trunc };
Tensor div(Operand a, Operand b, Rounding rounding = Rounding::none);
Tensor neg(Operand x);

Tensor eq(Operand a, Operand b);  // comparisons give bool
Tensor ne(Operand a, Operand b);
Tensor lt(Operand a, Operand b);
Tensor le(Operand a, Operand b);
Tensor gt(Operand a, Operand b);
Tensor ge(Operand a, Operand b);
Tensor logical_and(Operand a, Operand b);
Tensor logical_or(Operand a, Operand b);

inline Tensor operator+(Operand a, Operand b) { return add(a, b); }
inline Tensor operator-(Operand a, Operand b) { return sub(a, b); }
inline Tensor operator*(Operand a, Operand b) { return mul(a, b); }
inline Tensor operator/(Operand a, Operand b) { return div(a, b); }
inline Tensor operator-(Operand x) { return neg(x); }
inline Tensor operator==(Operand a, Operand b) { return eq(a, b); }
inline Tensor operator!=(Operand a, Operand b) { return ne(a, b); }
inline Tensor operator<(Operand a, Operand b) { return lt(a, b); }
inline Tensor operator<=(Operand a, Operand b) { return le(a, b); }
inline Tensor operator>(Operand a, Operand b) { return gt(a, b); }
inline Tensor operator>=(Operand a, Operand b) { return ge(a, b); }

}  // namespace heed
