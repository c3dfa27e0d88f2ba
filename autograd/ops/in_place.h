#pragma once

#include "autograd/operand.h"

/// Operations in place, under NoGrad. Each writes into its first operand x and returns it; the other operand
/// broadcasts to x or is a number. Throws while operations are recorded, if x is expanded so that several
/// elements share memory, and for different dtypes.
namespace heed {

Tensor copy_(Operand x, Operand source);                  ///< x = source, converted to the dtype of x
Tensor fill_(Operand x, Scalar value);                    ///< x = value
Tensor zero_(Operand x);                                  ///< x = 0
Tensor add_(Operand x, Operand other, Scalar alpha = 1);  ///< x = x + alpha other
Tensor sub_(Operand x, Operand other, Scalar alpha = 1);  ///< x = x - alpha other
Tensor mul_(Operand x, Operand other);                    ///< x = x other
Tensor div_(Operand x, Operand other);                    ///< x = x / other, floating

}  // namespace heed
