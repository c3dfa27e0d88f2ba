#include "autograd/recompute.h"

#include "autograd/ops/activation.h"
#include "tests/support/expect.h"

TEST_CASE("a saved activation is recomputed unless it was overwritten before it was saved") {
  if (reference_mode()) return;
  const Tensor x = randn({100, 100}, float64).requires_grad_(),
               w = randn({100, 100}, float64).requires_grad_();
  const auto gradient = [&] {
    Tensor y = gelu(x);
    const size_t live = memory_use().live;
    const Tensor z = matmul(y, w);
    y = Tensor();
    CHECK(memory_use().live < live + 10000);  // z is allocated and y is freed
    return grad({sum(z)}, {w})[0];
  };
  const Tensor kept = gelu(x.detach()), ones_ = ones({100, 100}, float64);
  CHECK(values(gradient()) == values(matmul(transpose(kept), ones_)));
  const Tensor y = gelu(x);
  unrecorded([&] { mul_(y, ones_ * 2); });
  CHECK(values(grad({sum(matmul(y, w))}, {w})[0]) == values(matmul(transpose(kept * 2), ones_)));
  const Tensor z = gelu(x), product = matmul(z, w);
  unrecorded([&] { mul_(z, ones_ * 2); });
  CHECK(values(grad({sum(product)}, {w})[0]) == values(matmul(transpose(kept), ones_)));
}

TEST_CASE("recomputation: long chains do not overflow the stack") {
  const Tensor x = ones({4}).requires_grad_();
  Tensor y = x;
  for (int i = 0; i < 100000; ++i) y = gelu(y);
  sum(y).backward();
  CHECK(all(isfinite(x.grad())).item<bool>());
}
