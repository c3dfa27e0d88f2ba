#pragma once

#include <array>

#include "nn/recurrent/recurrent.h"

namespace heed {

/// What LSTMCell returns.
struct LSTMState {
  Tensor h, c;
  std::array<Tensor*, 2> tensors() { return {&h, &c}; }
};

/// What LSTM returns.
struct LSTMResult {
  Tensor output;    // h of the last layer after each step
  Tensor h_n, c_n;  // of all layers after the last step
  std::array<Tensor*, 3> tensors() { return {&output, &h_n, &c_n}; }
};

/// One step of long short-term memory (Hochreiter and Schmidhuber, 1997; Gers et al., 2000):
///
///   i, f, o = sigmoid(W_i x + b_i + W_h h + b_h), each with rows of its own      what to write, keep, show
///   g  = tanh(W_ig x + b_ig + W_hg h + b_hg)                                     the candidate
///   c' = f c + i g
///   h' = o tanh(c')
///
///   x          [B, input_size], or [input_size]
///   h, c       [B, hidden_size], or [hidden_size]; zero if not given
///   returns    h' and c', shaped as h
///
/// The rows of i, f, g and o stand in this order in the weights. Start: as RNNCell.
class LSTMCell : public Layer<LSTMCell>, public RecurrentWeights {
 public:
  LSTMCell(int64_t input_size, int64_t hidden_size, const RecurrentCellOptions& options = {})
      : RecurrentWeights(Recurrence::lstm, input_size, hidden_size, options.bias) {}

  LSTMState forward(const Tensor& x, const Tensor& h = {}, const Tensor& c = {}) const {
    const std::vector<Tensor> parts = chunk(step("LSTMCell", x, h, c), 2, -1);
    return {parts[0], parts[1]};
  }
  void visit(Visitor& v) override { name(v); }
};

/// LSTMCell over a sequence, in layers and one or two directions. Shapes, lengths, start and errors are those
/// of RNN; c_0 and c_n are shaped as h_0 and h_n:
///
///   const auto [output, h_n, c_n] = lstm(x);         // or lstm(x, h_0, c_0), lstm(x, h_0, c_0, lengths)
///
/// With proj_size P each h' is projected, h' = W_hr (o tanh(c')), and h_0, h_n and output are P wide where
/// they would be hidden_size wide (Sak et al., 2014).
class LSTM : public Layer<LSTM>, public RecurrentStack {
 public:
  LSTM(int64_t input_size, int64_t hidden_size, const RecurrentOptions& options = {})
      : RecurrentStack("LSTM", Recurrence::lstm, input_size, hidden_size, options) {}

  LSTMResult forward(const Tensor& x, const Tensor& h_0 = {}, const Tensor& c_0 = {},
                     const Tensor& lengths = {}) const {
    const auto [output, h_n, c_n] = run(x, h_0, c_0, lengths, training());
    return {output, h_n, c_n};
  }
  void visit(Visitor& v) override { name_all(v); }
};

}  // namespace heed
