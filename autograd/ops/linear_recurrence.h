#pragma once

#include "autograd/operand.h"

/// What attention with a state is computed with. Throws for other shapes and for different dtypes; operands
/// are floating.
namespace heed {

/// All states of a recurrence: y_0 = start, y_{t+1} = factor_t y_t + x_t.
///
///   factor   [..., n, k, k]: a matrix for each step; or [..., n, k, 1] or [..., n, 1, 1]: numbers that
///            multiply the rows of y. As many dimensions as x; those before n may be 1
///   x        [..., n, k, m]
///   start    [..., k, m]; 0 if omitted
///   returns  [..., n + 1, k, m]
Tensor linear_recurrence(Operand factor, Operand x, Operand start = {});
/// (I + L)^-1, where L is what x has below its diagonal; the rest of x is ignored. x [..., n, n], the shape
/// of the result.
Tensor unit_lower_inverse(Operand x);

}  // namespace heed
