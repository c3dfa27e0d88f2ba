#pragma once

#include "autograd/ops/arithmetic.h"

/// Comparisons, and choosing by them. `a` and `b` broadcast, and either may be a C++ number; different dtypes
/// throw. Comparisons are bool and have no gradient.
namespace heed {

Tensor eq(Operand a, Operand b);           ///< a == b
Tensor ne(Operand a, Operand b);           ///< a != b
Tensor lt(Operand a, Operand b);           ///< a < b
Tensor le(Operand a, Operand b);           ///< a <= b
Tensor gt(Operand a, Operand b);           ///< a > b
Tensor ge(Operand a, Operand b);           ///< a >= b
Tensor logical_and(Operand a, Operand b);  ///< Whether both are nonzero.
Tensor logical_or(Operand a, Operand b);   ///< Whether at least one is nonzero.
Tensor logical_not(Operand x);             ///< Whether x is 0.
Tensor isnan(Operand x);                   ///< Whether x is NaN.
Tensor isinf(Operand x);                   ///< Whether x is infinite.
Tensor isfinite(Operand x);                ///< Whether x is neither NaN nor infinite.
/// Whether |a - b| <= atol + rtol |b| everywhere, for infinite elements whether they are equal. NaN is close
/// to nothing, or with equal_nan to NaN.
bool allclose(Operand a, Operand b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);

/// condition ? a : b; the condition is bool and broadcasts with them.
Tensor where(Operand condition, Operand a, Operand b);
/// mask ? value : x; the mask is bool, the value one number.
Tensor masked_fill(Operand x, Operand mask, Operand value);
/// The larger of a and b, or NaN. Where they are equal, each has half of the gradient.
Tensor maximum(Operand a, Operand b);
/// The smaller of a and b, or NaN. Where they are equal, each has half of the gradient.
Tensor minimum(Operand a, Operand b);
/// min(max(x, min), max). The bounds are numbers or tensors that broadcast; one of them may be omitted. Where
/// min > max, the result is max.
Tensor clamp(Operand x, Operand min = {}, Operand max = {});

inline Tensor operator==(Operand a, Operand b) { return eq(a, b); }  ///< a == b for each element
inline Tensor operator!=(Operand a, Operand b) { return ne(a, b); }  ///< a != b for each element
inline Tensor operator<(Operand a, Operand b) { return lt(a, b); }   ///< a < b for each element
inline Tensor operator<=(Operand a, Operand b) { return le(a, b); }  ///< a <= b for each element
inline Tensor operator>(Operand a, Operand b) { return gt(a, b); }   ///< a > b for each element
inline Tensor operator>=(Operand a, Operand b) { return ge(a, b); }  ///< a >= b for each element

}  // namespace heed
