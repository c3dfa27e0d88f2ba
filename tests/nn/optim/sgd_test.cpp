#include "nn/optim/optimizer.h"

#include <doctest/doctest.h>

#include "autograd/ops.h"

using namespace heed;

namespace {

std::vector<double> after(int steps, const SGDOptions& options) {
  const Tensor p = full({1}, 1, float64).requires_grad_();
  SGD optimizer({p}, options);
  for (int step = 0; step < steps; ++step) p.set_grad(full({1}, 2, float64)), optimizer.step();
  return p.to_vector<double>();
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
