#pragma once

#include <string>
#include <vector>

#include "autograd/ops.h"
#include "nn/init.h"
#include "nn/module.h"

/// What RNN, GRU and LSTM share: their parameters, and the walk over layers and directions.
namespace heed {

struct RecurrentCellOptions {
  bool bias = true;
  init::Nonlinearity nonlinearity = init::Nonlinearity::tanh;  // of RNNCell: tanh or relu
};

struct RecurrentOptions {
  int64_t num_layers = 1;                                      // each reads the outputs of the one before
  init::Nonlinearity nonlinearity = init::Nonlinearity::tanh;  // of RNN: tanh or relu
  bool bias = true;
  bool batch_first = false;    // sequences are [B, T, ...] instead of [T, B, ...]; states are not concerned
  double dropout = 0;          // of the outputs of each layer but the last, while training
  bool bidirectional = false;  // a second pass from the end; outputs stand side by side
  int64_t proj_size = 0;       // of LSTM: h is projected to this size; 0 for none
};

/// The kind of RNN and RNNCell; an Error unless the nonlinearity is tanh or relu.
Recurrence rnn_kind(init::Nonlinearity nonlinearity);

/// The parameters of one cell, or of one layer in one direction. Start: uniform in
/// [-1 / sqrt(hidden), 1 / sqrt(hidden)).
class RecurrentWeights {
 public:
  RecurrentWeights(Recurrence kind, int64_t input_size, int64_t hidden_size, bool bias = true,
                   int64_t proj_size = 0);

  int64_t input_size() const { return weight_ih.size(1); }
  int64_t hidden_size() const { return weight_ih.size(0) / gate_count(kind); }
  /// weight_ih, weight_hh, bias_ih, bias_hh, each with the suffix.
  void name(Visitor& v, const std::string& suffix = "");

  Recurrence kind;
  Parameter weight_ih;         // [G H, in], the gates one above the other
  Parameter weight_hh;         // [G H, H], or [G H, P] with a projection
  Parameter bias_ih, bias_hh;  // [G H], undefined without bias
  Parameter weight_hr;         // [P, H], undefined without a projection

 protected:
  /// One step of a cell: x [B, in] or [in], h and c [B, H] or [H], zero if undefined. Returns h, for lstm h
  /// and c side by side.
  Tensor step(const char* cell, const Tensor& x, const Tensor& h, const Tensor& c = {}) const;
};

/// Layers of one kind, each in one or two directions.
class RecurrentStack {
 public:
  int64_t input_size() const { return weights.front().input_size(); }
  int64_t hidden_size() const { return weights.front().hidden_size(); }

  RecurrentOptions options;
  std::vector<RecurrentWeights> weights;  // layer 0 forward, layer 0 reverse, layer 1 forward, ...

 protected:
  struct Result {
    Tensor output, h_n, c_n;
  };
  RecurrentStack(const char* name, Recurrence kind, int64_t input_size, int64_t hidden_size,
                 const RecurrentOptions& options);
  /// Parameters are called weight_ih_l0, ..., weight_ih_l0_reverse, ..., weight_ih_l1, ...
  void name_all(Visitor& v);
  Result run(const Tensor& x, const Tensor& h_0, const Tensor& c_0, const Tensor& lengths,
             bool training) const;

 private:
  const char* name_;
};

}  // namespace heed
