#pragma once

#include "tensor/recurrence.h"
#include "tensor/tensor.h"

/// One layer of a recurrent network in one direction. T steps, B sequences, G gates of size H; S is H, for
/// lstm 2 H, h and c side by side. The formulas are those of tensor/recurrence.h.
namespace heed::kernel {

struct Steps {
  Recurrence kind;
  bool reverse;    // from the last step to the first
  Tensor lengths;  // [B] int64, or undefined: after so many steps a sequence keeps its state
};

/// The results of the steps. Memory has the batch first where that of x has.
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
