#include "tensor/kernels/blas.h"

#include "tests/support/expect.h"

#if defined(HEED_OPENBLAS)
TEST_CASE_TEMPLATE("blas_tile: agrees with the sum of products", T, float, double) {
  Generator generator(1);
  for (const auto& [n, m, k] : {std::tuple{1, 1, 5}, {1, 7, 3}, {6, 1, 4}, {5, 4, 1}, {5, 6, 7}}) {
    const Tensor a = randn({n, k}, dtype_of<T>, &generator), b = randn({m, k}, dtype_of<T>, &generator);
    for (const bool adds : {false, true}) {
      const Tensor y = ones({n, m}, dtype_of<T>);
      kernel::blas_tile<T>(n, m, k, T(0.5), {a.data<T>(), k, 1}, {b.data<T>(), 1, k}, adds,
                           {y.mutable_data<T>(), m, 1});
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < m; ++j) {
          double sum = adds;
          for (int64_t p = 0; p < k; ++p) sum += 0.5 * a.data<T>()[i * k + p] * b.data<T>()[j * k + p];
          CHECK(y.data<T>()[i * m + j] == doctest::Approx(sum).epsilon(1e-5));
        }
    }
  }
}

TEST_CASE("readable_by_blas: one step is 1, and rows or columns do not overlap") {
  const Tensor x = zeros({4, 6});
  CHECK(kernel::readable_by_blas(x));
  CHECK(kernel::readable_by_blas(transpose(x)));
  CHECK(kernel::readable_by_blas(narrow(x, 1, 1, 3)));
  CHECK_FALSE(kernel::readable_by_blas(slice(x, 1, 0, 6, 2)));
  CHECK_FALSE(kernel::readable_by_blas(expand(zeros({1, 6}), {4, 6})));
}
#endif
