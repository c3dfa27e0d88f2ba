#include "nn/optim/optimizer.h"

#include <doctest/doctest.h>

#include <cmath>

#include "autograd/ops.h"
#include "tests/support/expect.h"

using namespace heed;

namespace {

std::vector<double> after(int steps, const SGDOptions& options) {
  const Tensor p = full({1}, 1, float64).requires_grad_();
  SGD optimizer({p}, options);
  for (int step = 0; step < steps; ++step) p.set_grad(full({1}, 2, float64)), optimizer.step();
  return p.to_vector<double>();
}

// After one step each with these gradients, from 0.
template <class Kind, class Options>
double moved(std::initializer_list<double> gradients, const Options& options) {
  const Tensor p = full({1}, 0, float64).requires_grad_();
  Kind optimizer({p}, options);
  for (const double g : gradients) p.set_grad(full({1}, g, float64)), optimizer.step();
  return p.item();
}

}  // namespace

TEST_CASE("SGD: momentum, dampening, Nesterov, decay and ascent by hand") {
  CHECK(after(2, {.lr = 0.25}) == std::vector<double>{0});
  CHECK(after(2, {.lr = 0.25, .maximize = true}) == std::vector<double>{2});
  // v = 2, then 0.5 * 2 + 2 = 3
  CHECK(after(2, {.lr = 0.25, .momentum = 0.5}) == std::vector<double>{1 - 0.25 * 5});
  // v = 2 undamped at first, then 0.5 * 2 + 0.5 * 2 = 2
  CHECK(after(2, {.lr = 0.25, .momentum = 0.5, .dampening = 0.5}) == std::vector<double>{0});
  // g + 0.5 v = 3, then v = 3 and the step 3.5
  CHECK(after(2, {.lr = 0.25, .momentum = 0.5, .nesterov = true}) == std::vector<double>{1 - 0.25 * 6.5});
  // g + 0.5 p = 2.5
  CHECK(after(1, {.lr = 0.25, .weight_decay = 0.5}) == std::vector<double>{1 - 0.25 * 2.5});
}

TEST_CASE("SGD: options that cannot be") {
  CHECK_THROWS_WITH(after(0, {.lr = -1}), "SGD: lr -1, momentum 0, weight_decay 0; none may be negative");
  CHECK_THROWS_WITH(after(0, {.nesterov = true}),
                    "SGD: nesterov with momentum 0 and dampening 0; it needs a momentum and no dampening");
}

TEST_CASE("Adam: the first step is lr in the direction of the gradient, whatever its size") {
  const Tensor p = from_vector<double>({1, 1, 1}, {3}).requires_grad_();
  Adam optimizer({p}, {.lr = 0.5, .eps = 0});
  p.set_grad(from_vector<double>({1e-9, -4, 1e9}, {3}));
  optimizer.step();
  for (const double moved : (p - from_vector<double>({0.5, 1.5, 0.5}, {3})).to_vector<double>())
    CHECK(std::abs(moved) < 1e-12);
}

TEST_CASE("AdamW: decay shrinks the parameter itself and is 0.01 unless said otherwise") {
  const Tensor p = full({1}, 2, float64).requires_grad_(), q = full({1}, 2, float64).requires_grad_();
  AdamW optimizer({{{p}, {.lr = 0.1, .weight_decay = 0.5}}, {{q}, {.lr = 0.1}}});
  p.set_grad(zeros({1}, float64));
  q.set_grad(zeros({1}, float64));
  optimizer.step();
  CHECK(p.item() == doctest::Approx(2 * (1 - 0.1 * 0.5)).epsilon(1e-15));
  CHECK(q.item() == doctest::Approx(2 * (1 - 0.1 * 0.01)).epsilon(1e-15));
}

TEST_CASE("Adam: options that cannot be") {
  const Tensor p = full({1}, 2).requires_grad_();
  CHECK_THROWS_WITH(Adam({p}, {.betas = {0.9, 1}}),
                    "Adam: betas are 0.9 and 1; each must be at least 0 and below 1");
  CHECK_THROWS_WITH(AdamW({p}, {.eps = -1}),
                    "AdamW: lr 0.001, eps -1, weight_decay 0.01; none may be negative");
}

TEST_CASE("Adam: the same bits on any number of threads" * doctest::test_suite("threads")) {
  const auto run = [](int count) {
    const Threads threads(count);
    const Tensor p = full({100'003}, 0.5).requires_grad_();
    Adam optimizer({p}, {.weight_decay = 0.1});
    for (int step = 1; step < 4; ++step) {
      p.set_grad(arange(0, 100'003) * (1e-5 * step));
      optimizer.step();
    }
    return p.to_vector<float>();
  };
  const auto one = run(1);
  for (const int threads : {2, 3, 7}) CHECK(run(threads) == one);
}

TEST_CASE("RMSprop: plain, centred and with momentum by hand") {
  const auto step = [](const RMSpropOptions& options) { return moved<RMSprop>({2, 4}, options); };
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

TEST_CASE("Adagrad: the sum of squares, its start, and the decaying rate by hand") {
  const auto step = [](const AdagradOptions& options) { return moved<Adagrad>({3, 4}, options); };
  CHECK(step({.lr = 1, .eps = 0}) == doctest::Approx(-(1 + 0.8)).epsilon(1e-15));
  CHECK(step({.lr = 1, .lr_decay = 1, .eps = 0}) == doctest::Approx(-(1 + 0.4)).epsilon(1e-15));
  CHECK(step({.lr = 1, .initial_accumulator_value = 16, .eps = 0}) ==
        doctest::Approx(-(3 / 5.0 + 4 / std::sqrt(41.0))).epsilon(1e-15));
  CHECK_THROWS_AS(step({.lr_decay = -1}), Error);
}
