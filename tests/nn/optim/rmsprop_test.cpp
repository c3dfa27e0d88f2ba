#include "nn/optim/optimizer.h"

#include <doctest/doctest.h>

#include <cmath>

#include "autograd/ops.h"

using namespace heed;

TEST_CASE("RMSprop: plain, centred and with momentum by hand") {
  const auto step = [](const RMSpropOptions& options) {
    const Tensor p = full({1}, 0, float64).requires_grad_();
    RMSprop optimizer({p}, options);
    for (const double g : {2.0, 4.0}) p.set_grad(full({1}, g, float64)), optimizer.step();
    return p.item();
  };
  // v = 2, then 9
  const double d1 = 2 / std::sqrt(2.0), d2 = 4 / 3.0;
  CHECK(step({.lr = 1, .alpha = 0.5, .eps = 0}) == doctest::Approx(-(d1 + d2)).epsilon(1e-15));
  CHECK(step({.lr = 1, .alpha = 0.5, .eps = 0, .momentum = 0.5}) ==
        doctest::Approx(-(d1 + 0.5 * d1 + d2)).epsilon(1e-15));
  // mean = 1, then 2.5
  const double c1 = 2 / std::sqrt(2.0 - 1), c2 = 4 / std::sqrt(9 - 6.25);
  CHECK(step({.lr = 1, .alpha = 0.5, .eps = 0, .centered = true}) ==
        doctest::Approx(-(c1 + c2)).epsilon(1e-15));
  CHECK(step({.lr = 1, .alpha = 0.5, .eps = 0, .momentum = 0.5, .centered = true, .maximize = true}) ==
        doctest::Approx(c1 + 0.5 * c1 + c2).epsilon(1e-15));
  CHECK_THROWS_WITH(
      step({.alpha = -1}),
      "RMSprop: lr 0.01, alpha -1, eps 1e-08, weight_decay 0, momentum 0; none may be negative");
}
