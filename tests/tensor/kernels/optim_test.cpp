#include "tensor/kernels/optim.h"

#include "tests/support/expect.h"

TEST_CASE("sweep: a parameter longer than one block; absent memory reads as 0 and is not kept") {
  const int64_t n = 20'001;
  const Tensor p = kernel::full({n}, 1, float64), g = kernel::full({n}, 2, float64);
  const Tensor m = kernel::full({n}, 3, float64), none;
  const auto rule = []<class T>(T& p_, T g_, T& a, T& b) {
    a += 1;
    b += 1;
    p_ -= T(0.25) * g_ + a + b;
  };
  kernel::sweep(p, g, -1, 1, rule, m, kernel::OrZero{none});  // g is -2 + 1
  for (const double value : p.to_vector<double>()) REQUIRE(value == 1 + 0.25 - 4 - 1);
  kernel::sweep(p, g, 1, 0, rule, kernel::OrZero{none}, kernel::OrZero{m});
  for (const double value : p.to_vector<double>()) REQUIRE(value == -3.75 - 0.5 - 1 - 5);
  CHECK(m.to_vector<double>()[0] == 5);
}

TEST_CASE("sum_of_powers: several blocks, every power") {
  const int64_t n = 20'001;
  const Tensor x = kernel::full({n}, -2, float32);
  CHECK(kernel::sum_of_powers(x, 2) == 4.0 * static_cast<double>(n));
  CHECK(kernel::sum_of_powers(x, 1) == 2.0 * static_cast<double>(n));
  CHECK(kernel::sum_of_powers(x, 0) == static_cast<double>(n));
  CHECK(kernel::sum_of_powers(x, 3) == 8.0 * static_cast<double>(n));
  CHECK(kernel::sum_of_powers(x, kInf) == 2);
  CHECK(kernel::sum_of_powers(Tensor::empty({0}), 2) == 0);
}
