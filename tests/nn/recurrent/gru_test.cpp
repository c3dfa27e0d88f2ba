#include "nn/recurrent/recurrent.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tensor/index.h"
#include "tests/support/expect.h"
#include "tests/support/leaves.h"

using namespace heed;

TEST_CASE("GRUCell: the reset gate acts after the product, z keeps the state") {
  GRUCell cell(1, 1);
  cell.weight_ih = tensor({{0.5F}, {-1.0F}, {2.0F}});
  cell.weight_hh = tensor({{1.0F}, {0.25F}, {-0.5F}});
  cell.bias_ih = tensor({0.1F, 0.2F, 0.3F});
  cell.bias_hh = tensor({-0.3F, 0.4F, 0.7F});
  const double x = 0.8, h = -0.6;
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  const double r = sigmoid(0.5 * x + 0.1 + h - 0.3);
  const double z = sigmoid(-x + 0.2 + 0.25 * h + 0.4);
  const double n = std::tanh(2 * x + 0.3 + r * (-0.5 * h + 0.7));
  const Tensor y = cell(tensor({{0.8F}}), tensor({{-0.6F}}));
  CHECK(y.item() == doctest::Approx((1 - z) * n + z * h));
  CHECK(cell(tensor({0.8F}), tensor({-0.6F})).item() == doctest::Approx(y.item()));
  CHECK(test::forgotten_leaves(y, cell) == "");
}

TEST_CASE("GRU: a loop of cells") {
  for (const bool bias : {true, false}) {
    const GRU layer(3, 4, {.bias = bias});
    GRUCell cell(3, 4, {.bias = bias});
    static_cast<RecurrentWeights&>(cell) = layer.weights[0];
    const Tensor x = randn({5, 2, 3}), h_0 = randn({1, 2, 4});
    const auto [output, h_n] = layer(x, h_0);
    Tensor h = h_0[0];
    for (int64_t t = 0; t < 5; ++t) {
      h = cell(select(x, 0, t), h);
      CHECK(max(abs(h - select(output, 0, t))).item() < 1e-6);
    }
    CHECK(max(abs(h - h_n[0])).item() < 1e-6);
  }
}
