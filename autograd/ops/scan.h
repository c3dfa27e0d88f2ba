#pragma once

#include "autograd/dims.h"
#include "autograd/operand.h"

/// Running sums and products. Throws if x has no such dimension.
namespace heed {

/// y_i = x_1 + ... + x_i along one dimension; the shape of x.
Tensor cumsum(Operand x, Dim dim);
Tensor prod(Operand x);                                 ///< x_1 x_2 ... of all elements; of bool in int64
Tensor prod(Operand x, Dim dim, bool keepdim = false);  ///< x_1 x_2 ... along one dimension

}  // namespace heed
