#include "autograd/saved.h"

#include "tests/support/expect.h"

TEST_CASE("a saved tensor is checked when it is read") {
  const Tensor x = leaf({1, 2}), other = tensor({3, 4}, float64);
  CHECK(values(save(other)()) == values(other));
  CHECK_FALSE(save(Tensor())().defined());
  const Saved saved = save(other), view = save(other[0]);
  const Tensor sum_y = sum(x + other), product = sum(x * other);
  unrecorded([&] { add_(other, 1); });
  CHECK_ERROR_HAS(saved(), "a gradient rule: a tensor of shape [2], saved ");
  CHECK_ERROR_HAS(view(), "was overwritten by add_ at ");  // views share their memory
  sum_y.backward();                                        // no rule reads it
  CHECK(values(x.grad()) == Values{1, 1});
  CHECK_ERROR_HAS(product.backward(), "mul: a tensor of shape [2], saved at ");
}
