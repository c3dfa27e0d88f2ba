#pragma once

#include "nn/recurrent/rnn.h"

namespace heed {

/// One step of the gated recurrent unit (Cho et al., 2014), in the form with the reset gate after the
/// product:
///
///   r  = sigmoid(W_ir x + b_ir + W_hr h + b_hr)        how much of the state the candidate sees
///   z  = sigmoid(W_iz x + b_iz + W_hz h + b_hz)        how much of the state stays
///   n  = tanh(W_in x + b_in + r (W_hn h + b_hn))       the candidate
///   h' = (1 - z) n + z h
///
///   x          [B, input_size], or [input_size]
///   h          [B, hidden_size], or [hidden_size]; zero if not given
///   returns    the shape of h
///
/// The rows of r, z and n stand in this order in the weights. Start: as RNNCell.
class GRUCell : public Layer<GRUCell>, public RecurrentWeights {
 public:
  GRUCell(int64_t input_size, int64_t hidden_size, const RecurrentCellOptions& options = {})
      : RecurrentWeights(Recurrence::gru, input_size, hidden_size, options.bias) {}

  Tensor forward(const Tensor& x, const Tensor& h = {}) const { return step("GRUCell", x, h); }
  void visit(Visitor& v) override { name(v); }
};

/// GRUCell over a sequence, in layers and one or two directions. Shapes, lengths, start and errors are those
/// of RNN:
///
///   const auto [output, h_n] = gru(x);               // or gru(x, h_0), gru(x, h_0, lengths)
class GRU : public Layer<GRU>, public RecurrentStack {
 public:
  GRU(int64_t input_size, int64_t hidden_size, const RecurrentOptions& options = {})
      : RecurrentStack("GRU", Recurrence::gru, input_size, hidden_size, options) {}

  RecurrentResult forward(const Tensor& x, const Tensor& h_0 = {}, const Tensor& lengths = {}) const {
    const auto [output, h_n, c_n] = run(x, h_0, {}, lengths, training());
    return {output, h_n};
  }
  void visit(Visitor& v) override { name_all(v); }
};

}  // namespace heed
