#include "tensor/kernels/transposed_weights.h"

#include "autograd/grad_mode.h"
#include "autograd/ops/in_place.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/shape.h"
#include "tensor/kernels/matmul.h"
#include "tests/support/expect.h"

TEST_CASE("linear: few rows give the same bits by transposed weights, which are kept until a write") {
  manual_seed(3);
  Tensor a = randn({48, 40}).requires_grad_();
  const Tensor b = randn({40, 48}), bias = randn({48}), x = randn({3, 40}), row = randn({40});
  const Tensor top = narrow(a.detach(), 0, 0, 24), bottom = narrow(a.detach(), 0, 24, 24),
               wide = randn({4, 5}, float64);
  const auto kept = [](const Tensor& weight, int64_t rows = 3) {
    return kernel::transposed_weight(weight, zeros({rows, weight.size(1)}), true).is_contiguous();
  };
  for (int step = 0; step < 3; ++step) {
    const std::vector expected{values(linear(x, a, bias)), values(linear(row, a, bias)),
                               values(linear(x, top)), values(linear(x, bottom)),
                               values(linear(x, transpose(b)))};
    CHECK_FALSE(kept(a));
    const NoGrad guard;
    for (int use = 0; use < 3; ++use)
      CHECK(std::vector{values(linear(x, a, bias)), values(linear(row, a, bias)), values(linear(x, top)),
                        values(linear(x, bottom)), values(linear(x, transpose(b)))} == expected);
    CHECK(kept(a) == kernel::has_own_product(float32));
    CHECK(kept(top) == kernel::has_own_product(float32));
    CHECK_FALSE(kept(a, 65));
    for (int use = 0; use < 2; ++use) kept(wide);
    CHECK(kept(wide) == kernel::has_own_product(float64));
    mul_(a, 2);
    CHECK_FALSE(kept(a));
    mul_(a, 2);
    copy_(b, randn({40, 48}));
  }
}

TEST_CASE("linear: gradients are the same after the weight's transpose was kept") {
  const Tensor w = randn({48, 40}).requires_grad_(), in = randn({3, 40}).requires_grad_(), g = randn({3, 48});
  const auto gradients = [&] { return grad({linear(in, w)}, {in, w}, {.grad_outputs = {g}}); };
  const auto frozen = [&] { return grad({linear(in, w.detach())}, {in}, {.grad_outputs = {g}}); };
  const auto expected = gradients();
  for (int use = 0; use < 3; ++use) CHECK(values(frozen()[0]) == values(expected[0]));
  for (size_t i = 0; i < 2; ++i) CHECK(values(gradients()[i]) == values(expected[i]));
}

TEST_CASE("linear: memory of which ever new weights are cut keeps the transposes of a few") {
  manual_seed(4);
  const Tensor all = randn({64, 8}), x = randn({2, 8});
  const auto contiguous_at = [&](int64_t row) {
    return kernel::transposed_weight(narrow(all, 0, row, 4), x, true).is_contiguous();
  };
  CHECK_FALSE(contiguous_at(0));
  for (int64_t row = 1; row < 20; ++row) CHECK_FALSE(contiguous_at(row));
  CHECK_FALSE(contiguous_at(0));
  CHECK(contiguous_at(0) == kernel::has_own_product(float32));
  CHECK(values(linear(x, narrow(all, 0, 0, 4))) == values(matmul(x, transpose(narrow(all, 0, 0, 4)))));
}
