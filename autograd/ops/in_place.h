#pragma once

#include "autograd/operand.h"

/// Operations in place, under NoGrad, also for a leaf that requires a gradient. Each writes into its first
/// operand x and returns it; the other operand broadcasts to x or is a number. Throws while operations are
/// recorded, if x is expanded so that several elements share memory, and for different dtypes.
namespace heed {

Tensor copy_(Operand x, Operand source);                  ///< x = source, converted to the dtype of x
Tensor fill_(Operand x, Scalar value);                    ///< x = value
Tensor zero_(Operand x);                                  ///< x = 0
Tensor add_(Operand x, Operand other, Scalar alpha = 1);  ///< x = x + alpha other
Tensor sub_(Operand x, Operand other, Scalar alpha = 1);  ///< x = x - alpha other
Tensor mul_(Operand x, Operand other);                    ///< x = x other
Tensor div_(Operand x, Operand other);                    ///< x = x / other, floating

inline Tensor operator+=(const Tensor& x, Operand y) { return add_({x, y.line()}, y); }  ///< add_(x, y)
inline Tensor operator-=(const Tensor& x, Operand y) { return sub_({x, y.line()}, y); }  ///< sub_(x, y)
inline Tensor operator*=(const Tensor& x, Operand y) { return mul_({x, y.line()}, y); }  ///< mul_(x, y)
inline Tensor operator/=(const Tensor& x, Operand y) { return div_({x, y.line()}, y); }  ///< div_(x, y)

}  // namespace heed
