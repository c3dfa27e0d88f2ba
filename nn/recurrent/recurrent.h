#pragma once

#include "autograd/ops/recurrent.h"
#include "autograd/ops/shape.h"
#include "nn/init.h"
#include "nn/module.h"

/// Recurrent networks: RNN, GRU and LSTM, as cells and over sequences.
namespace heed {

/// Options of RNNCell, GRUCell and LSTMCell.
struct RecurrentCellOptions {
  bool bias = true;                                            ///< Add b_ih and b_hh.
  init::Nonlinearity nonlinearity = init::Nonlinearity::tanh;  ///< Of RNNCell: tanh or relu.
};

/// Options of RNN, GRU and LSTM.
struct RecurrentOptions {
  int64_t num_layers = 1;  ///< Each reads the outputs of the previous one.
  init::Nonlinearity nonlinearity = init::Nonlinearity::tanh;  ///< Of RNN: tanh or relu.
  bool bias = true;                                            ///< Add b_ih and b_hh.
  bool batch_first = false;    ///< Sequences are [B, T, ...], not [T, B, ...]; states are still [L, B, ...].
  double dropout = 0;          ///< Of the outputs of each layer except the last, in training.
  bool bidirectional = false;  ///< Add a pass from the last step to the first; outputs are concatenated.
  int64_t proj_size = 0;       ///< Of LSTM: h is projected to this size; 0 means no projection.
};

/// The kind of RNN and RNNCell. Throws unless the nonlinearity is tanh or relu.
Recurrence rnn_kind(init::Nonlinearity nonlinearity);

/// The parameters of one cell, or of one layer in one direction. Start: uniform in
/// [-1 / sqrt(hidden), 1 / sqrt(hidden)).
class RecurrentWeights {
 public:
  /// Errors: sizes below 1; proj_size >= hidden_size.
  RecurrentWeights(Recurrence kind, int64_t input_size, int64_t hidden_size, bool bias = true,
                   int64_t proj_size = 0);

  int64_t input_size() const { return weight_ih.size(1); }
  int64_t hidden_size() const { return weight_ih.size(0) / gate_count(kind); }
  /// Names weight_ih, weight_hh, bias_ih, bias_hh and weight_hr, each with the suffix.
  void name(Visitor& v, const std::string& suffix = "") {
    v("weight_ih" + suffix, weight_ih, "weight_hh" + suffix, weight_hh, "bias_ih" + suffix, bias_ih,
      "bias_hh" + suffix, bias_hh, "weight_hr" + suffix, weight_hr);
  }

  Recurrence kind;
  Parameter weight_ih;         ///< [G H, in], the rows of all G gates
  Parameter weight_hh;         ///< [G H, H], or [G H, P] with a projection
  Parameter bias_ih, bias_hh;  ///< [G H], undefined without bias
  Parameter weight_hr;         ///< [P, H], undefined without a projection

 protected:
  /// One step of a cell: x [B, in] or [in], h and c [B, H] or [H], zero if undefined. Returns h, or for an
  /// lstm h and c side by side.
  Tensor step(const char* cell, const Tensor& x, const Tensor& h, const Tensor& c = {}) const;
};

/// Result of RNN and GRU.
struct RecurrentResult {
  Tensor output;  ///< h of the last layer after each step
  Tensor h_n;     ///< h of all layers after the last step
  /// The tensors, for the hooks of modules.
  std::array<Tensor*, 2> tensors() { return {&output, &h_n}; }
};

/// Result of LSTM.
struct LSTMResult {
  Tensor output;    ///< h of the last layer after each step
  Tensor h_n, c_n;  ///< h and c of all layers after the last step
  operator RecurrentResult() const { return {output, h_n}; }
  /// The tensors, for the hooks of modules.
  std::array<Tensor*, 3> tensors() { return {&output, &h_n, &c_n}; }
};

/// Layers of one kind, each in one or two directions: the base of RNN, GRU and LSTM.
class RecurrentStack : public Module {
 public:
  /// Of RNN and GRU; LSTM has its own.
  RecurrentResult forward(const Tensor& x, const Tensor& h_0 = {}, const Tensor& lengths = {}) const {
    return run(x, h_0, {}, lengths);
  }
  /// Names parameters weight_ih_l0, ..., weight_ih_l0_reverse, ..., weight_ih_l1, ...
  void visit(Visitor& v) override;

  int64_t input_size() const { return weights[0].input_size(); }
  int64_t hidden_size() const { return weights[0].hidden_size(); }

  RecurrentOptions options;
  std::vector<RecurrentWeights> weights;  ///< layer 0 forward, layer 0 reverse, layer 1 forward, ...

 protected:
  /// `name` is for messages. Errors: num_layers below 1; a dropout outside of [0, 1]; a proj_size without
  /// lstm.
  RecurrentStack(const char* name, Recurrence kind, int64_t input_size, int64_t hidden_size,
                 const RecurrentOptions& options);
  /// Runs all layers. c_n is undefined unless the kind is lstm.
  LSTMResult run(const Tensor& x, const Tensor& h_0, const Tensor& c_0, const Tensor& lengths) const;

 private:
  int64_t directions() const { return options.bidirectional ? 2 : 1; }
  const char* name_;
};

/// One step of the plain recurrent network (Elman, 1990): h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu.
///
///   x          [B, input_size], or [input_size]
///   h          [B, hidden_size], or [hidden_size]; zero if not given
///   returns    the shape of h
///
/// Start: all parameters uniform in [-1 / sqrt(hidden_size), 1 / sqrt(hidden_size)). State dict: weight_ih,
/// weight_hh, bias_ih, bias_hh.
struct RNNCell : Layer<RNNCell>, RecurrentWeights {
  RNNCell(int64_t input_size, int64_t hidden_size, const RecurrentCellOptions& options = {})
      : RecurrentWeights(rnn_kind(options.nonlinearity), input_size, hidden_size, options.bias) {}

  Tensor forward(const Tensor& x, const Tensor& h = {}) const { return step("RNNCell", x, h); }
  void visit(Visitor& v) override { name(v); }
};

/// RNNCell over a sequence, in layers and one or two directions.
///
///   x          [T, B, input_size]; [B, T, input_size] with batch_first, which is false by default, as in
///              PyTorch; or [T, input_size] for a single sequence
///   h_0        [L, B, hidden_size], or [L, hidden_size] for a single sequence; L = num_layers, or twice that
///              if bidirectional: layer 0 forward, layer 0 reverse, layer 1 forward, ...; zero if not given
///   lengths    [B] int64 from 0 to T: number of steps of each sequence; T if not given
///   output     [T, B, hidden_size], twice as wide if bidirectional: forward, then reverse
///   h_n        [L, B, hidden_size], in the order of h_0
///
/// With lengths the output is 0 after a sequence's last step, h_n is the state at its last step, and the
/// reverse direction starts there. Padding after the last step has no influence. A sequence of length 0 keeps
/// h_0.
///
///   const auto [output, h_n] = rnn(x, Tensor(), lengths);
///
/// Start: all parameters uniform in [-1 / sqrt(hidden_size), 1 / sqrt(hidden_size)).
/// State dict: weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, the same with the suffix _reverse if
/// bidirectional, then l1. Errors: sizes that do not match; a length below 0 or above T; no steps.
struct RNN : RecurrentStack, detail::CallOperator<RNN> {
  RNN(int64_t input_size, int64_t hidden_size, const RecurrentOptions& choices = {})
      : RecurrentStack("RNN", rnn_kind(choices.nonlinearity), input_size, hidden_size, choices) {}
};

/// One step of the gated recurrent unit (Cho et al., 2014), in the variant that applies the reset gate after
/// the product, as in PyTorch:
///
///   r  = sigmoid(W_ir x + b_ir + W_hr h + b_hr)        reset gate
///   z  = sigmoid(W_iz x + b_iz + W_hz h + b_hz)        update gate
///   n  = tanh(W_in x + b_in + r (W_hn h + b_hn))       candidate
///   h' = (1 - z) n + z h
///
///   x          [B, input_size], or [input_size]
///   h          [B, hidden_size], or [hidden_size]; zero if not given
///   returns    the shape of h
///
/// The rows of the weights are those of r, z and n, in this order. Start and state dict: as RNNCell.
struct GRUCell : Layer<GRUCell>, RecurrentWeights {
  GRUCell(int64_t input_size, int64_t hidden_size, const RecurrentCellOptions& options = {})
      : RecurrentWeights(Recurrence::gru, input_size, hidden_size, options.bias) {}

  Tensor forward(const Tensor& x, const Tensor& h = {}) const { return step("GRUCell", x, h); }
  void visit(Visitor& v) override { name(v); }
};

/// GRUCell over a sequence, in layers and one or two directions. Shapes, lengths, start, state dict and
/// errors are those of RNN:
///
///   const auto [output, h_n] = gru(x);               // or gru(x, h_0), gru(x, h_0, lengths)
struct GRU : RecurrentStack, detail::CallOperator<GRU> {
  GRU(int64_t input_size, int64_t hidden_size, const RecurrentOptions& choices = {})
      : RecurrentStack("GRU", Recurrence::gru, input_size, hidden_size, choices) {}
};

/// Result of LSTMCell.
struct LSTMState {
  Tensor h, c;  ///< [B, hidden_size], or [hidden_size]
  /// The tensors, for the hooks of modules.
  std::array<Tensor*, 2> tensors() { return {&h, &c}; }
};

/// One step of long short-term memory (Hochreiter and Schmidhuber, 1997; Gers et al., 2000):
///
///   i  = sigmoid(W_ii x + b_ii + W_hi h + b_hi)        input gate
///   f  = sigmoid(W_if x + b_if + W_hf h + b_hf)        forget gate
///   g  = tanh(W_ig x + b_ig + W_hg h + b_hg)           candidate
///   o  = sigmoid(W_io x + b_io + W_ho h + b_ho)        output gate
///   c' = f c + i g
///   h' = o tanh(c')
///
///   x          [B, input_size], or [input_size]
///   h, c       [B, hidden_size], or [hidden_size]; zero if not given
///   returns    h' and c', each with the shape of h
///
/// The rows of the weights are those of i, f, g and o, in this order. Start and state dict: as RNNCell.
struct LSTMCell : Layer<LSTMCell>, RecurrentWeights {
  LSTMCell(int64_t input_size, int64_t hidden_size, const RecurrentCellOptions& options = {})
      : RecurrentWeights(Recurrence::lstm, input_size, hidden_size, options.bias) {}

  LSTMState forward(const Tensor& x, const Tensor& h = {}, const Tensor& c = {}) const {
    const std::vector<Tensor> parts = chunk(step("LSTMCell", x, h, c), 2, -1);
    return {parts[0], parts[1]};
  }
  void visit(Visitor& v) override { name(v); }
};

/// LSTMCell over a sequence, in layers and one or two directions. Shapes, lengths, start, state dict and
/// errors are those of RNN; c_0 and c_n have the shapes of h_0 and h_n:
///
///   const auto [output, h_n, c_n] = lstm(x);         // or lstm(x, h_0, c_0), lstm(x, h_0, c_0, lengths)
///
/// With proj_size P each h' is projected, h' = W_hr (o tanh(c')), and h_0, h_n and output have width P
/// instead of hidden_size (Sak et al., 2014). The state dict then has weight_hr_l0, ... too.
struct LSTM : RecurrentStack, detail::CallOperator<LSTM> {
  LSTM(int64_t input_size, int64_t hidden_size, const RecurrentOptions& choices = {})
      : RecurrentStack("LSTM", Recurrence::lstm, input_size, hidden_size, choices) {}

  LSTMResult forward(const Tensor& x, const Tensor& h_0 = {}, const Tensor& c_0 = {},
                     const Tensor& lengths = {}) const {
    return run(x, h_0, c_0, lengths);
  }
};

}  // namespace heed
