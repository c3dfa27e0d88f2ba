#pragma once

#include "autograd/ops/arithmetic.h"

/// Comparisons, truth values, and choosing by them. `a` and `b` broadcast, and a C++ number may stand for
/// either; two dtypes are an Error. Comparisons and truth values are bool and have no gradient.
namespace heed {

Tensor eq(Operand a, Operand b);           ///< a == b
Tensor ne(Operand a, Operand b);           ///< a != b
Tensor lt(Operand a, Operand b);           ///< a < b
Tensor le(Operand a, Operand b);           ///< a <= b
Tensor gt(Operand a, Operand b);           ///< a > b
Tensor ge(Operand a, Operand b);           ///< a >= b
Tensor logical_and(Operand a, Operand b);  ///< Whether both are true: not 0.
Tensor logical_or(Operand a, Operand b);   ///< Whether one or both are true: not 0.
Tensor logical_not(Operand x);             ///< Whether x is 0.
Tensor isnan(Operand x);                   ///< Whether x is NaN.
Tensor isfinite(Operand x);                ///< Whether x is neither NaN nor infinite.

/// condition ? a : b; the condition is bool, an Error otherwise, and broadcasts with them.
Tensor where(Operand condition, Operand a, Operand b);
/// mask ? value : x; the mask is bool, the value one number. An Error otherwise.
Tensor masked_fill(Operand x, Operand mask, Operand value);

inline Tensor operator==(Operand a, Operand b) { return eq(a, b); }  ///< a == b for each element
inline Tensor operator!=(Operand a, Operand b) { return ne(a, b); }  ///< a != b for each element
inline Tensor operator<(Operand a, Operand b) { return lt(a, b); }   ///< a < b for each element
inline Tensor operator<=(Operand a, Operand b) { return le(a, b); }  ///< a <= b for each element
inline Tensor operator>(Operand a, Operand b) { return gt(a, b); }   ///< a > b for each element
inline Tensor operator>=(Operand a, Operand b) { return ge(a, b); }  ///< a >= b for each element

}  // namespace heed
