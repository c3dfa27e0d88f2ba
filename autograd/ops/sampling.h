#pragma once

#include "autograd/operand.h"
#include "tensor/random.h"

/// Random choices by given probabilities. Without a generator they draw from the thread's default one, see
/// manual_seed.
namespace heed {

/// 1 with probability p, else 0, in the shape and dtype of p; with gradient 0. Throws unless 0 <= p <= 1.
Tensor bernoulli(Operand p, Generator* generator = nullptr);
/// Positions in each row of x, int64: i with probability x_i / sum_j x_j. Without replacement the positions
/// in a row differ, each drawn from those that are left.
///
///   x        [n] or [rows, n], floating, not negative
///   returns  [num_samples] or [rows, num_samples]
///
/// Errors: a weight that is negative or not finite; a row with too few weights above 0.
Tensor multinomial(Operand x, int64_t num_samples, bool replacement = false, Generator* generator = nullptr);

}  // namespace heed
