#include "nn/optim/adaptive.h"

#include "tests/support/expect.h"

// The parameter after one step for each of these gradients, from 0.
template <class Kind, class Options>
static double moved(std::initializer_list<double> gradients, const Options& options) {
  const Tensor p = full({1}, 0, float64).requires_grad_();
  Kind optimizer({p}, options);
  for (const double g : gradients) p.set_grad(full({1}, g, float64)), optimizer.step();
  return p.item();
}

// The reference cases cover the rest.
TEST_CASE("Adam: invalid options") {
  const Tensor p = full({1}, 2).requires_grad_();
  CHECK_ERROR(Adam({p}, {.betas = {0.9, 1}}),
              "Adam: betas are 0.9 and 1; each must be at least 0 and below 1");
  CHECK_ERROR(AdamW({p}, {.eps = -1}), "AdamW: lr 0.001, eps -1, weight_decay 0.01; none may be negative");
}

TEST_CASE("RMSprop: centered, with momentum and maximize, by hand") {
  const auto step = [](const RMSpropOptions& options) { return moved<RMSprop>({2, 4}, options); };
  // v = 2, then 9, mean = 1, then 2.5
  const double c1 = 2 / std::sqrt(2.0 - 1), c2 = 4 / std::sqrt(9 - 6.25);
  CHECK(step({.lr = 1, .alpha = 0.5, .eps = 0, .centered = true}) ==
        doctest::Approx(-(c1 + c2)).epsilon(1e-15));
  CHECK(step({.lr = 1, .alpha = 0.5, .eps = 0, .momentum = 0.5, .centered = true, .maximize = true}) ==
        doctest::Approx(c1 + 0.5 * c1 + c2).epsilon(1e-15));
  CHECK_ERROR(step({.alpha = -1}),
              "RMSprop: lr 0.01, alpha -1, eps 1e-08, weight_decay 0, momentum 0; none may be negative");
}

TEST_CASE("Adagrad: the initial sum of squares and the decaying rate, by hand") {
  const auto step = [](const AdagradOptions& options) { return moved<Adagrad>({3, 4}, options); };
  CHECK(step({.lr = 1, .lr_decay = 1, .eps = 0}) == doctest::Approx(-(1 + 0.4)).epsilon(1e-15));
  CHECK(step({.lr = 1, .initial_accumulator_value = 16, .eps = 0}) ==
        doctest::Approx(-(3 / 5.0 + 4 / std::sqrt(41.0))).epsilon(1e-15));
  CHECK_THROWS_AS(step({.lr_decay = -1}), Error);
}
