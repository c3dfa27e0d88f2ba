#pragma once

#include <array>

#include "nn/recurrent/recurrent.h"

namespace heed {

/// What RNN and GRU return.
struct RecurrentResult {
  Tensor output;  // the states of the last layer after each step
  Tensor h_n;     // the states of all layers after the last step
  std::array<Tensor*, 2> tensors() { return {&output, &h_n}; }
};

/// One step of the plain recurrent network (Elman, 1990): h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu.
///
///   x          [B, input_size], or [input_size]
///   h          [B, hidden_size], or [hidden_size]; zero if not given
///   returns    the shape of h
///
/// Start: everything uniform in [-1 / sqrt(hidden_size), 1 / sqrt(hidden_size)).
class RNNCell : public Layer<RNNCell>, public RecurrentWeights {
 public:
  RNNCell(int64_t input_size, int64_t hidden_size, const RecurrentCellOptions& options = {})
      : RecurrentWeights(rnn_kind(options.nonlinearity), input_size, hidden_size, options.bias) {}

  Tensor forward(const Tensor& x, const Tensor& h = {}) const { return step("RNNCell", x, h); }
  void visit(Visitor& v) override { name(v); }
};

/// The plain recurrent network over a sequence: RNNCell at each step, in layers and one or two directions.
///
///   x          [T, B, input_size]; [B, T, input_size] with batch_first, which is false unless you say
///              otherwise, as in PyTorch; or [T, input_size] for a single sequence
///   h_0        [L, B, hidden_size], or [L, hidden_size] for a single sequence, where L = num_layers, twice
///              that if bidirectional: layer 0 forward, layer 0 reverse, layer 1 forward, ...; zero if not
///              given
///   lengths    [B] int64 from 0 to T: how many steps of each sequence count; all, if not given
///   output     [T, B, hidden_size], twice as wide if bidirectional: forward, then reverse
///   h_n        [L, B, hidden_size], in the order of h_0
///
/// With lengths the output is 0 after a sequence's last step, h_n is the state at its last step, and the
/// reverse direction starts there: what stands in x after it changes nothing. A sequence of length 0 keeps
/// h_0.
///
///   const auto [output, h_n] = rnn(x, Tensor(), lengths);
///
/// Start: everything uniform in [-1 / sqrt(hidden_size), 1 / sqrt(hidden_size)).
/// Errors: sizes that do not fit; a length that is negative or beyond T; no step at all.
class RNN : public Layer<RNN>, public RecurrentStack {
 public:
  RNN(int64_t input_size, int64_t hidden_size, const RecurrentOptions& options = {})
      : RecurrentStack("RNN", rnn_kind(options.nonlinearity), input_size, hidden_size, options) {}

  RecurrentResult forward(const Tensor& x, const Tensor& h_0 = {}, const Tensor& lengths = {}) const {
    const auto [output, h_n, c_n] = run(x, h_0, {}, lengths, training());
    return {output, h_n};
  }
  void visit(Visitor& v) override { name_all(v); }
};

}  // namespace heed
