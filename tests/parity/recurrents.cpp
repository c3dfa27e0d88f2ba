// Recurrent layers and cells of the reference cases.
#include "nn/recurrent/recurrent.h"
#include "tests/parity/nn_cases.h"

namespace heed::parity {
namespace {

init::Nonlinearity nonlinearity_of(const Fields& config) {
  return config.choice<init::Nonlinearity>(
      "nonlinearity", {{"tanh", init::Nonlinearity::tanh}, {"relu", init::Nonlinearity::relu}});
}

// The layer or cell, called with the inputs of these names; missing ones are undefined.
template <class Layer, class... Names>
Subject subject(Layer layer, Names... names) {
  const auto module = std::make_shared<Layer>(std::move(layer));
  return {module, [=](const Inputs& in) {
            auto result = (*module)(in[names]...);
            Outputs outputs;
            heed::detail::each_tensor(result, [&](const Tensor& y) { outputs.push_back(y); });
            return outputs;
          }};
}

template <class Layer, class... Names>
Build layer(Names... names) {
  return [=](const Fields& c, const Fields&) {
    return subject(Layer(c["input_size"], c["hidden_size"],
                         {.num_layers = c.get("num_layers", 1),
                          .nonlinearity = nonlinearity_of(c),
                          .bias = c.get("bias", true),
                          .batch_first = c.get("batch_first", false),
                          .dropout = c.get("dropout", 0.0),
                          .bidirectional = c.get("bidirectional", false),
                          .proj_size = c.get("proj_size", 0)}),
                   names...);
  };
}

template <class Cell, class... Names>
Build cell(Names... names) {
  return [=](const Fields& c, const Fields&) {
    return subject(Cell(c["input_size"], c["hidden_size"],
                        {.bias = c.get("bias", true), .nonlinearity = nonlinearity_of(c)}),
                   names...);
  };
}

}  // namespace

const Builds& recurrents() {
  static const Builds table = {
      {"RNN", layer<RNN>("input", "h_0")},          {"GRU", layer<GRU>("input", "h_0")},
      {"LSTM", layer<LSTM>("input", "h_0", "c_0")}, {"RNNCell", cell<RNNCell>("input", "h")},
      {"GRUCell", cell<GRUCell>("input", "h")},     {"LSTMCell", cell<LSTMCell>("input", "h", "c")}};
  return table;
}

}  // namespace heed::parity
