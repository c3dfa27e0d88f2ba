#pragma once

#include "autograd/operand.h"
#include "tensor/recurrence.h"

/// Recurrence: what recurrent layers share, see nn/recurrent.
namespace heed {

/// Choices of recurrence.
struct RecurrenceOptions {
  Tensor lengths = {};     ///< [B] int64: after so many steps a sequence keeps its state
  bool reverse = false;    ///< from the last step to the first
  Tensor projection = {};  ///< [P, H], lstm only: h' = projection (o tanh(c')), of size P
};
/// The states of one layer in one direction, after each step.
///
///   x        [T, B, G H]   W_ih input + b_ih, for G gates of size H
///   state    [B, S]        before the first step; zero if undefined. S = H, for lstm h and c side by side
///   weight   [G H, H], bias [G H]    of the state: a = weight h + bias
///   returns  [T, B, S]
///
/// Errors: shapes or dtypes that do not fit, no step at all, a projection of another kind than lstm.
Tensor recurrence(Recurrence kind, Operand x, Operand state, Operand weight, Operand bias = {},
                  const RecurrenceOptions& options = {});

}  // namespace heed
