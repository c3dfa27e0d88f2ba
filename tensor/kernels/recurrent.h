#pragma once

#include "tensor/tensor.h"

/// One layer of a recurrent network in one direction. T steps, B sequences, G gates of size H; S is H, for
/// lstm 2 H, h and c side by side. The formulas stand in autograd/ops/recurrent.h.
namespace heed::kernel {

/// In the order of heed::Recurrence.
enum class Cell { rnn_tanh, rnn_relu, gru, lstm };

struct Steps {
  Cell kind;
  bool reverse;    // from the last step to the first
  Tensor lengths;  // [B] int64, or undefined: after so many steps a sequence keeps its state
};

/// What the steps leave behind. Memory has the batch first where that of x has.
struct States {
  Tensor y;      // [T, B, S]: the state after each step
  Tensor gates;  // [T, B, 4 H]: gru r, z, W_hn h + b_hn, n; lstm i, f, g, o; else, or unless kept, undefined
};
/// x [T, B, G H], state [B, S], weight [G H, H], bias [G H]; state and bias may be undefined: zero.
States recur(const Steps& how, const Tensor& x, const Tensor& state, const Tensor& weight, const Tensor& bias,
             bool keep_gates);

struct RecurrenceGradients {
  Tensor x, state, weight, bias;
};
RecurrenceGradients recur_backward(const Steps& how, const Tensor& g, const Tensor& state,
                                   const Tensor& weight, const States& forward);

}  // namespace heed::kernel
