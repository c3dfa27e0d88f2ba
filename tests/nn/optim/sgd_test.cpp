#include "nn/optim/sgd.h"

#include "tests/support/expect.h"

TEST_CASE("SGD: Nesterov and maximize by hand, invalid options") {
  const auto step = [](const SGDOptions& options) {
    const Tensor p = leaf({0});
    SGD optimizer({p}, options);
    for (int i = 0; i < 2; ++i) p.set_grad(full({1}, 2, float64)), optimizer.step();
    return p.item();
  };
  CHECK(step({.lr = 0.25, .maximize = true}) == 1);
  // g + 0.5 v = 3, then v = 3 and the step 3.5
  CHECK(step({.lr = 0.25, .momentum = 0.5, .nesterov = true}) == -0.25 * 6.5);
  CHECK_ERROR(step({.lr = -1}), "SGD: lr -1, momentum 0, weight_decay 0; none may be negative");
  CHECK_ERROR(step({.nesterov = true}),
              "SGD: nesterov with momentum 0 and dampening 0; it needs a momentum and no dampening");
}
