#include "tensor/kernels/outer_inner.h"

#include "tests/support/expect.h"

constexpr auto largest = [](auto a, auto b) { return a > b ? a : b; };

TEST_CASE_TEMPLATE("join_line: any length", T, float, double, int64_t) {
  constexpr int64_t size = kernel::Simd<T>::size;
  std::vector<T> x(1000);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<T>((i * 7919) % 1000) - 500;  // integers: sums are exact
  for (int64_t n = 0; n <= 10 * size + 3; ++n) {
    T sum = 3, top = -1000, products = 0;
    for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
      sum += x[i + 1];
      top = std::max(top, x[i + 1]);
      products += x[i] * x[i + 1];
    }
    CHECK(kernel::join_line(n, T(3), std::plus<>(), std::identity(), x.data() + 1) == sum);
    CHECK(kernel::join_line(n, T(-1000), largest, std::identity(), x.data() + 1) == top);
    CHECK(kernel::join_line(n, T(0), std::plus<>(), std::multiplies<>(), x.data(), x.data() + 1) == products);
  }
}

TEST_CASE("sum_line adds up the runs in double") {
  for (const int64_t n :
       {int64_t{0}, int64_t{1}, kernel::kRun - 1, kernel::kRun, kernel::kRun + 1, 5 * kernel::kRun + 7}) {
    const std::vector<float> ones(static_cast<size_t>(n), 1);
    CHECK(kernel::sum_line(n, std::identity(), ones.data()) == static_cast<double>(n));
    CHECK(kernel::sum_line(n, std::plus<>(), ones.data(), ones.data()) == static_cast<double>(2 * n));
  }
  const std::vector<float> many(1 << 25, 1);  // a float stops counting at 2^24
  CHECK(kernel::sum_line(1 << 25, std::identity(), many.data()) == double(1 << 25));
}
