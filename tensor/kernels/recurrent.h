#pragma once

#include "tensor/recurrence.h"
#include "tensor/tensor.h"

/// One layer of a recurrent network in one direction: T steps of B sequences, with G gates of size H. The
/// size S of the state is H, or 2 H for lstm, whose state is h and c side by side. The formulas are in
/// tensor/recurrence.h.
namespace heed::kernel {

struct RecurrentRule {
  Recurrence kind;
  bool reverse;    // from the last step to the first
  Tensor lengths;  // [B] int64: a sequence keeps its state after this many steps; undefined: all have T

  int64_t state_size(int64_t H) const { return kind == Recurrence::lstm ? 2 * H : H; }
  int64_t saved_size(int64_t H) const { return gate_count(kind) > 1 ? 4 * H : H; }
  /// Whether sequence b has ended before step t.
  bool ended(int64_t t, int64_t b) const {
    return lengths.defined() && t >= lengths.data<int64_t>()[b * lengths.strides()[0]];
  }
};

struct RecurrentResult {
  Tensor y;      // [T, B, S], the state after each step
  Tensor gates;  // [T, B, 4 H]: gru r, z, W_hn h + b_hn, n; lstm i, f, g, o; else undefined
};
/// x [T, B, G H], state [B, S], weight [G H, H], bias [G H]; state and bias may be undefined, which means
/// zero. The results have the memory order of x: time first, or batch first. Gates are returned if
/// `keep_gates`.
RecurrentResult recurrent_forward(const RecurrentRule& rule, const Tensor& x, const Tensor& state,
                                  const Tensor& weight, const Tensor& bias, bool keep_gates);

struct RecurrentGradients {
  Tensor x, state, weight, bias;
};
RecurrentGradients recurrent_backward(const RecurrentRule& rule, const Tensor& g, const Tensor& state,
                                      const Tensor& weight, const RecurrentResult& forward);

/// One step of one sequence: from x [G H], bias and the state before, y = the state after. `a` [4 H, or H] is
/// W h on entry and contains the gates on return.
template <class T>
void recurrent_step(Recurrence kind, int64_t H, const T* x, const T* bias, const T* before, T* a, T* y);

}  // namespace heed::kernel
