#include "nn/recurrent/recurrent.h"

#include <doctest/doctest.h>

#include <cmath>

#include "autograd/gradcheck.h"
#include "tensor/index.h"
#include "tests/support/expect.h"
#include "tests/support/leaves.h"

using namespace heed;

TEST_CASE("LSTMCell: gates in the order i, f, g, o") {
  LSTMCell cell(1, 1);
  cell.weight_ih = tensor({{0.5F}, {-1.0F}, {2.0F}, {0.75F}});
  cell.weight_hh = tensor({{1.0F}, {0.25F}, {-0.5F}, {1.5F}});
  cell.bias_ih = tensor({0.1F, 0.2F, 0.3F, 0.4F});
  cell.bias_hh = tensor({-0.3F, 0.4F, 0.7F, -0.1F});
  const double x = 0.8, h = -0.6, c = 1.5;
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  const double i = sigmoid(0.5 * x + 0.1 + h - 0.3), f = sigmoid(-x + 0.2 + 0.25 * h + 0.4);
  const double g = std::tanh(2 * x + 0.3 - 0.5 * h + 0.7), o = sigmoid(0.75 * x + 0.4 + 1.5 * h - 0.1);
  const auto [h_next, c_next] = cell(tensor({{0.8F}}), tensor({{-0.6F}}), tensor({{1.5F}}));
  CHECK(c_next.item() == doctest::Approx(f * c + i * g));
  CHECK(h_next.item() == doctest::Approx(o * std::tanh(f * c + i * g)));
  CHECK(test::forgotten_leaves(h_next + c_next, cell) == "");
  // A state that is not given is zero, alone or with the other.
  CHECK(cell(tensor({0.8F}), tensor({0.0F})).h.item() == cell(tensor({0.8F})).h.item());
  CHECK(cell(tensor({0.8F}), Tensor(), tensor({0.0F})).c.item() == cell(tensor({0.8F})).c.item());
  CHECK(message([&] {
          cell(ones({4, 1}), ones({4, 1}), ones({1}));
        }) == "LSTMCell: c is [1]; for this input it must be [4, 1]");
}

TEST_CASE("LSTM: a loop of cells") {
  for (const bool bias : {true, false}) {
    const LSTM layer(3, 4, {.bias = bias});
    LSTMCell cell(3, 4, {.bias = bias});
    static_cast<RecurrentWeights&>(cell) = layer.weights[0];
    const Tensor x = randn({5, 2, 3}), h_0 = randn({1, 2, 4}), c_0 = randn({1, 2, 4});
    const auto [output, h_n, c_n] = layer(x, h_0, c_0);
    Tensor h = h_0[0], c = c_0[0];
    for (int64_t t = 0; t < 5; ++t) {
      const LSTMState next = cell(select(x, 0, t), h, c);
      h = next.h;
      c = next.c;
      CHECK(max(abs(h - select(output, 0, t))).item() < 1e-6);
    }
    CHECK(max(abs(h - h_n[0])).item() < 1e-6);
    CHECK(max(abs(c - c_n[0])).item() < 1e-6);
  }
}

TEST_CASE("LSTM: a projection makes h narrower than c") {
  LSTM layer(3, 4, {.num_layers = 2, .batch_first = true, .bidirectional = true, .proj_size = 2});
  layer.to(float64);
  const Tensor x = randn({2, 5, 3}, float64), lengths = from_vector<int64_t>({5, 3}, {2});
  const auto [output, h_n, c_n] = layer(x, Tensor(), Tensor(), lengths);
  CHECK(output.shape() == Shape{2, 5, 4});
  CHECK(h_n.shape() == Shape{4, 2, 2});
  CHECK(c_n.shape() == Shape{4, 2, 4});
  CHECK(layer.state_dict().at("weight_hr_l1_reverse").shape() == Shape{2, 4});
  CHECK(layer.state_dict().at("weight_hh_l0").shape() == Shape{16, 2});
  CHECK(gradcheck([&](const std::vector<Tensor>&) { return layer(x).output; }, {layer.weights[0].weight_hr}));
  CHECK(message([] { LSTM(2, 2, {.proj_size = 2}); }).find("proj_size is 2, hidden_size 2") !=
        std::string::npos);
  CHECK(message([&] {
          layer(x, zeros({4, 2, 4}, float64));
        }) == "LSTM: h_0 is [4, 2, 4]; for this input it must be [4, 2, 2]");
}
