#pragma once

#include <cstdint>

/// The kinds of recurrent layers.
namespace heed {

/// The kind of a recurrent layer. With x what the input and a what the state gives to a gate:
///
///   rnn    h' = tanh(x + a), or relu
///   gru    r = sigmoid(x_r + a_r), z = sigmoid(x_z + a_z), n = tanh(x_n + r a_n), h' = (1 - z) n + z h
///   lstm   i, f, o = sigmoid(x + a), g = tanh(x_g + a_g), c' = f c + i g, h' = o tanh(c')
enum class Recurrence { rnn_tanh, rnn_relu, gru, lstm };

/// How many gates it has, one above the other in its weights: 1, 3 (r, z, n) or 4 (i, f, g, o).
constexpr int64_t gate_count(Recurrence kind) {
  return kind == Recurrence::gru ? 3 : kind == Recurrence::lstm ? 4 : 1;
}

}  // namespace heed
