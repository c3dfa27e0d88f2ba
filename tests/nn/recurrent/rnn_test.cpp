#include "nn/recurrent/recurrent.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tensor/index.h"
#include "tests/support/expect.h"
#include "tests/support/leaves.h"

using namespace heed;

TEST_CASE("RNNCell: tanh, or relu, of the sum of both products") {
  for (const auto nonlinearity : {init::Nonlinearity::tanh, init::Nonlinearity::relu}) {
    RNNCell cell(2, 1, {.nonlinearity = nonlinearity});
    cell.weight_ih = tensor({{1.0F, -2.0F}});
    cell.weight_hh = tensor({{0.5F}});
    cell.bias_ih = tensor({0.25F});
    cell.bias_hh = tensor({-1.0F});
    // 1 * 1 - 2 * x + 0.25 + 0.5 * 2 - 1
    const auto want = [&](double sum) {
      return nonlinearity == init::Nonlinearity::tanh ? std::tanh(sum) : std::max(sum, 0.0);
    };
    const Tensor y = cell(tensor({{1.0F, 0.5F}, {1.0F, 1.0F}}), tensor({{2.0F}, {2.0F}}));
    CHECK(values(y)[0] == doctest::Approx(want(0.25)));
    CHECK(values(y)[1] == doctest::Approx(want(-0.75)));
    CHECK(values(cell(tensor({1.0F, 0.25F})))[0] == doctest::Approx(want(-0.25)));
    CHECK(cell(tensor({1.0F, 0.25F}), tensor({1.0F})).shape() == Shape{1});
    CHECK(test::forgotten_leaves(y, cell) == "");
  }
}

TEST_CASE("RNN: a loop of cells") {
  for (const auto nonlinearity : {init::Nonlinearity::tanh, init::Nonlinearity::relu})
    for (const bool bias : {true, false}) {
      const RNN layer(3, 4, {.nonlinearity = nonlinearity, .bias = bias});
      RNNCell cell(3, 4, {.bias = bias, .nonlinearity = nonlinearity});
      static_cast<RecurrentWeights&>(cell) = layer.weights[0];
      CHECK(cell.parameters().size() == (bias ? 4 : 2));
      const Tensor x = randn({5, 2, 3});
      const auto [output, h_n] = layer(x);
      Tensor h;
      for (int64_t t = 0; t < 5; ++t) {
        h = cell(select(x, 0, t), h);
        CHECK(max(abs(h - select(output, 0, t))).item() < 1e-6);
      }
      CHECK(max(abs(h - h_n[0])).item() < 1e-6);
    }
}

TEST_CASE("RNN: what does not fit") {
  CHECK(message([] { RNN(2, 2, {.nonlinearity = init::Nonlinearity::sigmoid}); }) ==
        "RNN: the nonlinearity is tanh or relu");
  CHECK(message([] { RNN(2, 2, {.proj_size = 1}); }) == "RNN: only an LSTM has a proj_size");
  const RNNCell cell(3, 2);
  CHECK(message([&] { cell(ones({4, 2})); }) == "RNNCell: x is [4, 2]; it must be [B, 3] or [3]");
  CHECK(message([&] {
          cell(ones({4, 3}), ones({2}));
        }) == "RNNCell: h is [2]; for this input it must be [4, 2]");
}
