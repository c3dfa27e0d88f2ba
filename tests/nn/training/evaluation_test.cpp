#include "nn/training/evaluation.h"

#include "nn/layers/linear.h"
#include "tests/support/expect.h"

TEST_CASE("Evaluation: all modules are in evaluation mode, and nothing is recorded") {
  Linear layer(2, 2), other(2, 2);
  other.eval();
  {
    const Evaluation evaluation;
    CHECK_FALSE(layer.training());
    CHECK_FALSE(layer(ones({1, 2})).requires_grad());
    { const Evaluation inner; }
    CHECK_FALSE(layer.training());
  }
  CHECK(layer.training());
  CHECK_FALSE(other.training());
  CHECK(grad_enabled());
}
