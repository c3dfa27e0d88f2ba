#pragma once

#include "autograd/operand.h"
#include "tensor/recurrence.h"

/// The recurrence inside the layers of nn/recurrent.
namespace heed {

/// Options of recurrence.
struct RecurrenceOptions {
  Tensor lengths = {};     ///< [B] int64: the number of steps after which a sequence keeps its state
  bool reverse = false;    ///< run from the last step to the first
  Tensor projection = {};  ///< [P, H], lstm only: h' = projection (o tanh(c')), of size P
};
/// The states of one layer in one direction after each step. Recurrence has the formulas.
///
///   x        [T, B, G H]   W_ih input + b_ih, for G gates of size H
///   state    [B, S]        before the first step; zero if undefined. S = H, for an lstm h and c side by side
///   weight   [G H, H], bias [G H]    the state's part of the gates is weight h + bias
///   returns  [T, B, S]
///
/// Errors: shapes or dtypes that do not fit; no steps; a projection for another kind than lstm.
Tensor recurrence(Recurrence kind, Operand x, Operand state, Operand weight, Operand bias = {},
                  const RecurrenceOptions& options = {});

}  // namespace heed
