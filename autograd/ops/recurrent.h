#pragma once

#include <cstdint>

#include "autograd/operand.h"

/// Recurrence: what recurrent layers share, see nn/recurrent.
namespace heed {

/// The kind of a recurrent layer. With x what the input and a what the state gives to a gate:
///
///   rnn    h' = tanh(x + a), or relu
///   gru    r = sigmoid(x_r + a_r), z = sigmoid(x_z + a_z), n = tanh(x_n + r a_n), h' = (1 - z) n + z h
///   lstm   i, f, o = sigmoid(x + a), g = tanh(x_g + a_g), c' = f c + i g, h' = o tanh(c')
enum class Recurrence { rnn_tanh, rnn_relu, gru, lstm };
/// How many gates it has, one above the other in its weights: 1, 3 (r, z, n) or 4 (i, f, g, o).
int64_t gate_count(Recurrence kind);
struct RecurrenceOptions {
  Tensor lengths = {};     // [B] int64: after so many steps a sequence keeps its state
  bool reverse = false;    // from the last step to the first
  Tensor projection = {};  // [P, H], lstm only: h' = projection (o tanh(c')), of size P
};
/// The states of one layer in one direction, after each step.
///
///   x        [T, B, G H]   W_ih input + b_ih, for G gates of size H
///   state    [B, S]        before the first step; zero if undefined. S = H, for lstm h and c side by side
///   weight   [G H, H], bias [G H]    of the state: a = weight h + bias
///   returns  [T, B, S]
Tensor recurrence(Recurrence kind, Operand x, Operand state, Operand weight, Operand bias = {},
                  const RecurrenceOptions& options = {});

}  // namespace heed
