#include "autograd/recompute.h"

#include "autograd/ops/activation.h"
#include "tests/support/expect.h"

using namespace heed;

TEST_CASE("an activation is made again for who saved it, unless somebody wrote into it before") {
  if (reference_mode()) return;
  const Tensor x = randn({100, 100}, float64).requires_grad_(),
               w = randn({100, 100}, float64).requires_grad_();
  const auto gradient = [&] {
    Tensor y = gelu(x);
    const size_t live = memory_use().live;
    const Tensor z = matmul(y, w);
    y = Tensor();
    CHECK(memory_use().live < live + 10000);  // z came and y went
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

TEST_CASE("values made again: a long chain of them keeps some, so that no stack overflows") {
  const Tensor x = ones({4}).requires_grad_();
  Tensor y = x;
  for (int i = 0; i < 100000; ++i) y = gelu(y);
  sum(y).backward();
  CHECK(all(isfinite(x.grad())).item<bool>());
}
