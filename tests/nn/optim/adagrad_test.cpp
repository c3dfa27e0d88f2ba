#include "nn/optim/optimizer.h"

#include <doctest/doctest.h>

#include <cmath>

#include "autograd/ops.h"

using namespace heed;

TEST_CASE("Adagrad: the sum of squares, its start, and the decaying rate by hand") {
  const auto step = [](const AdagradOptions& options) {
    const Tensor p = full({1}, 0, float64).requires_grad_();
    Adagrad optimizer({p}, options);
    for (const double g : {3.0, 4.0}) p.set_grad(full({1}, g, float64)), optimizer.step();
    return p.item();
  };
  CHECK(step({.lr = 1, .eps = 0}) == doctest::Approx(-(1 + 0.8)).epsilon(1e-15));
  CHECK(step({.lr = 1, .lr_decay = 1, .eps = 0}) == doctest::Approx(-(1 + 0.4)).epsilon(1e-15));
  CHECK(step({.lr = 1, .initial_accumulator_value = 16, .eps = 0}) ==
        doctest::Approx(-(3 / 5.0 + 4 / std::sqrt(41.0))).epsilon(1e-15));
  CHECK_THROWS_AS(step({.lr_decay = -1}), Error);
}
