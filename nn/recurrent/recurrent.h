#pragma once

#include "autograd/ops/recurrent.h"
#include "autograd/ops/shape.h"
#include "nn/init.h"
#include "nn/module.h"

/// RNN, GRU and LSTM, as cells and over sequences.
namespace heed {

/// Choices of RNNCell, GRUCell and LSTMCell.
struct RecurrentCellOptions {
  bool bias = true;                                            ///< whether b_ih and b_hh are there
  init::Nonlinearity nonlinearity = init::Nonlinearity::tanh;  ///< of RNNCell: tanh or relu
};

/// Choices of RNN, GRU and LSTM.
struct RecurrentOptions {
  int64_t num_layers = 1;                                      ///< each reads the outputs of the one before
  init::Nonlinearity nonlinearity = init::Nonlinearity::tanh;  ///< of RNN: tanh or relu
  bool bias = true;                                            ///< whether b_ih and b_hh are there
  bool batch_first = false;    ///< sequences are [B, T, ...] instead of [T, B, ...]; states are not concerned
  double dropout = 0;          ///< of the outputs of each layer but the last, while training
  bool bidirectional = false;  ///< a second pass from the end; outputs are joined
  int64_t proj_size = 0;       ///< of LSTM: h is projected to this size; 0 for none
};

/// The kind of RNN and RNNCell; an Error unless the nonlinearity is tanh or relu.
Recurrence rnn_kind(init::Nonlinearity nonlinearity);

/// The parameters of one cell, or of one layer in one direction. Start: uniform in
/// [-1 / sqrt(hidden), 1 / sqrt(hidden)).
class RecurrentWeights {
 public:
  /// Errors: sizes below 1, a proj_size not below hidden_size.
  RecurrentWeights(Recurrence kind, int64_t input_size, int64_t hidden_size, bool bias = true,
                   int64_t proj_size = 0);

  int64_t input_size() const { return weight_ih.size(1); }                      ///< the width of x
  int64_t hidden_size() const { return weight_ih.size(0) / gate_count(kind); }  ///< H, the width of a gate
  /// weight_ih, weight_hh, bias_ih, bias_hh, each with the suffix.
  void name(Visitor& v, const std::string& suffix = "") {
    v("weight_ih" + suffix, weight_ih);
    v("weight_hh" + suffix, weight_hh);
    v("bias_ih" + suffix, bias_ih);
    v("bias_hh" + suffix, bias_hh);
    v("weight_hr" + suffix, weight_hr);
  }

  Recurrence kind;             ///< what a step computes
  Parameter weight_ih;         ///< [G H, in], the gates one above the other
  Parameter weight_hh;         ///< [G H, H], or [G H, P] with a projection
  Parameter bias_ih, bias_hh;  ///< [G H], undefined without bias
  Parameter weight_hr;         ///< [P, H], undefined without a projection

 protected:
  /// One step of a cell: x [B, in] or [in], h and c [B, H] or [H], zero if undefined. Returns h, for lstm h
  /// and c side by side.
  Tensor step(const char* cell, const Tensor& x, const Tensor& h, const Tensor& c = {}) const;
};

/// The result of RNN and GRU.
struct RecurrentResult {
  Tensor output;  ///< the states of the last layer after each step
  Tensor h_n;     ///< the states of all layers after the last step
  /// Its tensors, for the hooks of modules.
  std::array<Tensor*, 2> tensors() { return {&output, &h_n}; }
};

/// The result of LSTM.
struct LSTMResult {
  Tensor output;    ///< h of the last layer after each step
  Tensor h_n, c_n;  ///< of all layers after the last step
  /// Without c_n.
  operator RecurrentResult() const { return {output, h_n}; }
  /// Its tensors, for the hooks of modules.
  std::array<Tensor*, 3> tensors() { return {&output, &h_n, &c_n}; }
};

/// Layers of one kind, each in one or two directions.
class RecurrentStack {
 public:
  int64_t input_size() const { return weights.front().input_size(); }    ///< the width of x
  int64_t hidden_size() const { return weights.front().hidden_size(); }  ///< H, the width of a gate

  RecurrentOptions options;               ///< what was chosen
  std::vector<RecurrentWeights> weights;  ///< layer 0 forward, layer 0 reverse, layer 1 forward, ...

 protected:
  /// `name` is for messages. Errors: no layer, a dropout that is no probability, a proj_size of another kind
  /// than lstm.
  RecurrentStack(const char* name, Recurrence kind, int64_t input_size, int64_t hidden_size,
                 const RecurrentOptions& options);
  /// Parameters are called weight_ih_l0, ..., weight_ih_l0_reverse, ..., weight_ih_l1, ...
  void name_all(Visitor& v);
  /// Without c_n, unless the kind is lstm.
  LSTMResult run(const Tensor& x, const Tensor& h_0, const Tensor& c_0, const Tensor& lengths,
                 bool training) const;

 private:
  int64_t directions() const { return options.bidirectional ? 2 : 1; }
  bool is_reverse(int64_t k) const { return options.bidirectional && k % 2 == 1; }  // weights[k]
  const char* name_;
};

/// One step of the plain recurrent network (Elman, 1990): h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu.
///
///   x          [B, input_size], or [input_size]
///   h          [B, hidden_size], or [hidden_size]; zero if not given
///   returns    the shape of h
///
/// Start: everything uniform in [-1 / sqrt(hidden_size), 1 / sqrt(hidden_size)). State dict: weight_ih,
/// weight_hh, bias_ih, bias_hh.
struct RNNCell : Layer<RNNCell>, RecurrentWeights {
  /// The widths of x and h.
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
/// reverse direction starts there: what x holds after it changes nothing. A sequence of length 0 keeps
/// h_0.
///
///   const auto [output, h_n] = rnn(x, Tensor(), lengths);
///
/// Start: everything uniform in [-1 / sqrt(hidden_size), 1 / sqrt(hidden_size)).
/// State dict: weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, the same ending in _reverse if
/// bidirectional, then l1. Errors: sizes that do not fit; a length that is negative or beyond T; no step at
/// all.
struct RNN : Layer<RNN>, RecurrentStack {
  /// The widths of x and h.
  RNN(int64_t input_size, int64_t hidden_size, const RecurrentOptions& options = {})
      : RecurrentStack("RNN", rnn_kind(options.nonlinearity), input_size, hidden_size, options) {}

  RecurrentResult forward(const Tensor& x, const Tensor& h_0 = {}, const Tensor& lengths = {}) const {
    return run(x, h_0, {}, lengths, training());
  }
  void visit(Visitor& v) override { name_all(v); }
};

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
/// The weights have the rows of r, z and n in this order. Start and state dict: as RNNCell.
struct GRUCell : Layer<GRUCell>, RecurrentWeights {
  /// The widths of x and h.
  GRUCell(int64_t input_size, int64_t hidden_size, const RecurrentCellOptions& options = {})
      : RecurrentWeights(Recurrence::gru, input_size, hidden_size, options.bias) {}

  Tensor forward(const Tensor& x, const Tensor& h = {}) const { return step("GRUCell", x, h); }
  void visit(Visitor& v) override { name(v); }
};

/// GRUCell over a sequence, in layers and one or two directions. Shapes, lengths, start and errors are those
/// of RNN:
///
///   const auto [output, h_n] = gru(x);               // or gru(x, h_0), gru(x, h_0, lengths)
struct GRU : Layer<GRU>, RecurrentStack {
  /// The widths of x and h.
  GRU(int64_t input_size, int64_t hidden_size, const RecurrentOptions& options = {})
      : RecurrentStack("GRU", Recurrence::gru, input_size, hidden_size, options) {}

  RecurrentResult forward(const Tensor& x, const Tensor& h_0 = {}, const Tensor& lengths = {}) const {
    return run(x, h_0, {}, lengths, training());
  }
  void visit(Visitor& v) override { name_all(v); }
};

/// The result of LSTMCell.
struct LSTMState {
  Tensor h, c;  ///< [B, hidden_size], or [hidden_size]
  /// Its tensors, for the hooks of modules.
  std::array<Tensor*, 2> tensors() { return {&h, &c}; }
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
/// The weights have the rows of i, f, g and o in this order. Start and state dict: as RNNCell.
struct LSTMCell : Layer<LSTMCell>, RecurrentWeights {
  /// The widths of x and h.
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
struct LSTM : Layer<LSTM>, RecurrentStack {
  /// The widths of x and h.
  LSTM(int64_t input_size, int64_t hidden_size, const RecurrentOptions& options = {})
      : RecurrentStack("LSTM", Recurrence::lstm, input_size, hidden_size, options) {}

  LSTMResult forward(const Tensor& x, const Tensor& h_0 = {}, const Tensor& c_0 = {},
                     const Tensor& lengths = {}) const {
    return run(x, h_0, c_0, lengths, training());
  }
  void visit(Visitor& v) override { name_all(v); }
};

}  // namespace heed
