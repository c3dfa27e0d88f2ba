#pragma once

#include "autograd/operand.h"

/// In place, under NoGrad: each writes into its first operand x and returns it. The other broadcasts to x, or
/// is a number. Errors: recording is on; x is expanded, so that elements of it are one in memory; two dtypes.
namespace heed {

Tensor copy_(Operand x, Operand source);                  ///< x = source, of any dtype, converted
Tensor fill_(Operand x, Scalar value);                    ///< x = value
Tensor zero_(Operand x);                                  ///< x = 0
Tensor add_(Operand x, Operand other, Scalar alpha = 1);  ///< x = x + alpha other
Tensor sub_(Operand x, Operand other, Scalar alpha = 1);  ///< x = x - alpha other
Tensor mul_(Operand x, Operand other);                    ///< x = x other
Tensor div_(Operand x, Operand other);                    ///< x = x / other, floating

}  // namespace heed
