#include "tensor/kernels/optim.h"

#include "tests/support/expect.h"

using namespace heed;

TEST_CASE("optimiser kernels: a gradient of any strides, a parameter longer than one block") {
  const int64_t n = 20'001;
  const Tensor p = kernel::full({n}, 1, float64);
  const Tensor g = TensorImpl::view(kernel::full({1}, 2, float64), {n}, {0});  // expanded
  kernel::sweep(p, g, 1.0, 1.0, [](double& p_, double g_) { p_ -= 0.25 * g_; })();
  for (const double value : p.to_vector<double>()) REQUIRE(value == 0.25);
}

TEST_CASE("sum_of_powers: over blocks, for every power") {
  const int64_t n = 20'001;
  const Tensor x = kernel::full({n}, -2, float32);
  CHECK(kernel::sum_of_powers(x, 2) == 4.0 * static_cast<double>(n));
  CHECK(kernel::sum_of_powers(x, 1) == 2.0 * static_cast<double>(n));
  CHECK(kernel::sum_of_powers(x, 0) == static_cast<double>(n));
  CHECK(kernel::sum_of_powers(x, 3) == 8.0 * static_cast<double>(n));
  CHECK(kernel::sum_of_powers(x, kInf) == 2);
  CHECK(kernel::sum_of_powers(Tensor::empty({0}), 2) == 0);
}
