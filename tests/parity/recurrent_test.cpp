// The reference cases of recurrent layers and cells.
#include <doctest/doctest.h>

#include "nn/recurrent/recurrent.h"
#include "tests/parity/nn_cases.h"

using namespace heed;
using parity::Build, parity::Inputs, parity::Json, parity::Outputs, parity::Subject;

namespace {

init::Nonlinearity nonlinearity_of(const Json& config) {
  return config.value("nonlinearity", "tanh") == "relu" ? init::Nonlinearity::relu : init::Nonlinearity::tanh;
}

// The layer or cell, called with the inputs of these names, undefined where a case has none.
template <class Layer, class... Names>
Subject subject(Layer layer, Names... names) {
  const auto module = std::make_shared<Layer>(std::move(layer));
  return {module, [=](Inputs& in) {
            auto result = (*module)(in[names]...);
            Outputs outputs;
            heed::detail::each_tensor(result, [&](const Tensor& y) { outputs.push_back(y); });
            return outputs;
          }};
}

template <class Layer, class... Names>
Build layer(Names... names) {
  return [=](const Json& c, const Json&) {
    return subject(Layer(c.at("input_size"), c.at("hidden_size"),
                         {.num_layers = c.value("num_layers", 1),
                          .nonlinearity = nonlinearity_of(c),
                          .bias = c.value("bias", true),
                          .batch_first = c.value("batch_first", false),
                          .bidirectional = c.value("bidirectional", false),
                          .proj_size = c.value("proj_size", 0)}),
                   names...);
  };
}

template <class Cell, class... Names>
Build cell(Names... names) {
  return [=](const Json& c, const Json&) {
    return subject(Cell(c.at("input_size"), c.at("hidden_size"),
                        {.bias = c.value("bias", true), .nonlinearity = nonlinearity_of(c)}),
                   names...);
  };
}

}  // namespace

TEST_CASE("recurrent layers and cells agree with the reference cases") {
  parity::check_groups({"RNN", "GRU", "LSTM", "Cell"}, {{"RNN", layer<RNN>("input", "h_0")},
                                                        {"GRU", layer<GRU>("input", "h_0")},
                                                        {"LSTM", layer<LSTM>("input", "h_0", "c_0")},
                                                        {"RNNCell", cell<RNNCell>("input", "h")},
                                                        {"GRUCell", cell<GRUCell>("input", "h")},
                                                        {"LSTMCell", cell<LSTMCell>("input", "h", "c")}});
}
