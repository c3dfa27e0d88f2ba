#pragma once

#include "autograd/ops/arithmetic.h"

/// Comparisons, truth values, and choosing by them. `a` and `b` broadcast, and a C++ number may stand for either.
namespace heed {

Tensor eq(Operand a, Operand b);  // all of these give bool
Tensor ne(Operand a, Operand b);
Tensor lt(Operand a, Operand b);
Tensor le(Operand a, Operand b);
Tensor gt(Operand a, Operand b);
Tensor ge(Operand a, Operand b);
Tensor logical_and(Operand a, Operand b);
Tensor logical_or(Operand a, Operand b);
Tensor logical_not(Operand x);
Tensor isnan(Operand x);
Tensor isfinite(Operand x);

Tensor where(Operand condition, Operand a, Operand b);       // condition ? a : b
Tensor masked_fill(Operand x, Operand mask, Operand value);  // mask ? value : x

inline Tensor operator==(Operand a, Operand b) { return eq(a, b); }
inline Tensor operator!=(Operand a, Operand b) { return ne(a, b); }
inline Tensor operator<(Operand a, Operand b) { return lt(a, b); }
inline Tensor operator<=(Operand a, Operand b) { return le(a, b); }
inline Tensor operator>(Operand a, Operand b) { return gt(a, b); }
inline Tensor operator>=(Operand a, Operand b) { return ge(a, b); }

}  // namespace heed
