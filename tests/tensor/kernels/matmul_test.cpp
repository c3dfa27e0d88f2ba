#include "tensor/kernels/matmul.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "autograd/ops.h"
#include "tensor/create.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/parallel.h"
#include "tests/support/expect.h"

using namespace heed;

namespace {

// Numbers without a pattern, the same in every run.
Tensor numbers(const Shape& shape, DType dtype, double phase = 0) {
  Tensor x = Tensor::empty(shape, float64);
  double* value = x.mutable_data<double>();
  for (int64_t i = 0; i < x.numel(); ++i)
    value[i] =
        std::sin(phase + 12.9898 * static_cast<double>(i % 9973) + 0.1 * static_cast<double>(i / 9973));
  return kernel::cast(x, dtype);
}

bool same_bits(const Tensor& a, const Tensor& b) {
  const size_t bytes = static_cast<size_t>(a.numel() * size_of(a.dtype()));
  return a.shape() == b.shape() && std::memcmp(a.body().storage->data, b.body().storage->data, bytes) == 0;
}

// y_ij = start_ij + alpha sum_l a_il b_lj, in float64.
Tensor by_definition(const Tensor& a, const Tensor& b, const Tensor& start, double alpha) {
  const Shape lead =
      broadcast_shapes("", Shape(a.shape().data(), a.dim() - 2), Shape(b.shape().data(), b.dim() - 2));
  const auto spread = [&](const Tensor& x, int64_t rows, int64_t columns) {
    Shape shape = lead;
    for (const int64_t size : {rows, columns}) shape.push_back(size);
    return expand(x, shape);
  };
  const int64_t n = a.size(-2), k = a.size(-1), m = b.size(-1);
  const std::vector<double> x = spread(a, n, k).to_vector(), z = spread(b, k, m).to_vector();
  const Tensor from = spread(start.defined() ? start : zeros({1}, a.dtype()), n, m);
  std::vector<double> y = from.to_vector();
  for (int64_t row = 0; row < numel(lead) * n; ++row)
    for (int64_t j = 0; j < m; ++j)
      for (int64_t l = 0; l < k; ++l)
        y[static_cast<size_t>(row * m + j)] +=
            alpha * x[static_cast<size_t>(row * k + l)] * z[static_cast<size_t>((row / n * k + l) * m + j)];
  return from_vector(y, from.shape(), a.dtype());
}

// Holds the fast product against the definition, in both dtypes.
void compare(const Tensor& a, const Tensor& b, const Tensor& start = {}, double alpha = 1) {
  CAPTURE(a.shape());
  CAPTURE(b.shape());
  CAPTURE(a.strides());
  CAPTURE(b.strides());
  const double bound = (a.dtype() == float32 ? 1e-6 : 1e-14) * static_cast<double>(8 + a.shape().back());
  CHECK(largest_difference(kernel::matmul(a, b, start, alpha), by_definition(a, b, start, alpha)) < bound);
}

Tensor transposed(const Tensor& x) {
  Shape shape = x.shape();
  Strides strides = x.strides();
  const int64_t r = x.dim();
  std::swap(shape[r - 1], shape[r - 2]);
  std::swap(strides[r - 1], strides[r - 2]);
  return x.view_as(shape, strides, x.body().offset);
}

}  // namespace

TEST_CASE("matmul: exact values, start and alpha included") {
  const Tensor a = tensor({{1, 2}, {3, 4}, {5, 6}}), b = tensor({{1, 0, -1}, {2, 1, 0}});
  CHECK(kernel::matmul(a, b).to_vector() == std::vector<double>{5, 2, -1, 11, 4, -3, 17, 6, -5});
  CHECK(kernel::matmul(a, b, tensor({1, 2, 3}), 2).to_vector() ==
        std::vector<double>{11, 6, 1, 23, 10, -3, 35, 14, -7});
  CHECK(kernel::matmul(a, b, tensor({{1}, {2}, {3}})).to_vector() ==
        std::vector<double>{6, 3, 0, 13, 6, -1, 20, 9, -2});
}

TEST_CASE("matmul: every small size against the definition, both dtypes, each operand transposed or not") {
  for (const DType dtype : {float32, float64})
    for (const int64_t n : {1, 2, 3, 17})
      for (const int64_t k : {1, 2, 5, 33, 200})
        for (const int64_t m : {1, 2, 4, 19})
          for (const bool ta : {false, true})
            for (const bool tb : {false, true}) {
              const Tensor a = ta ? transposed(numbers({k, n}, dtype)) : numbers({n, k}, dtype);
              const Tensor b = tb ? transposed(numbers({m, k}, dtype, 1)) : numbers({k, m}, dtype, 1);
              compare(a, b);
              compare(a, b, numbers({m}, dtype, 2), 0.5);
            }
}

TEST_CASE("matmul: awkward strides are read right") {
  const Tensor wide = numbers({6, 40}, float64);
  const Tensor b = numbers({5, 3}, float64, 1);
  compare(wide.view_as({4, 5}, {40, 2}, 3), b);  // every second column
  compare(wide.view_as({4, 5}, {80, 1}, 3).view_as({3, 5}, {80, 1}, 3), b);
  compare(wide.view_as({4, 5}, {0, 1}, 7), b);  // one row repeated
  compare(wide.view_as({4, 5}, {1, 0}, 7), b);  // one column repeated
  compare(wide.view_as({4, 5}, {0, 0}, 7), b);  // one number repeated
  compare(wide.view_as({4, 5}, {1, 1}, 7), b);  // overlapping windows
  compare(wide.view_as({1, 5}, {1, 0}, 7), b);
  compare(wide.view_as({1, 5}, {1, 7}, 0), b);
  compare(wide.view_as({4, 5}, {2, 9}, 0), b.view_as({5, 1}, {0, 0}, 2));
  compare(wide.view_as({2, 4, 5}, {1, 7, 3}, 0), b);
}

TEST_CASE("matmul: leading dimensions broadcast, expanded ones are not copied out") {
  for (const DType dtype : {float32, float64}) {
    compare(numbers({2, 3, 4, 5}, dtype), numbers({2, 3, 5, 6}, dtype, 1));
    compare(numbers({2, 1, 4, 5}, dtype), numbers({3, 5, 6}, dtype, 1));
    compare(numbers({4, 5}, dtype), numbers({7, 5, 6}, dtype, 1));
    compare(numbers({7, 4, 5}, dtype), numbers({5, 6}, dtype, 1));
    compare(numbers({7, 2, 4, 5}, dtype), numbers({5, 6}, dtype, 1), numbers({6}, dtype));
    compare(numbers({7, 2, 4, 5}, dtype), numbers({5, 6}, dtype, 1), numbers({2, 1, 6}, dtype));
    compare(numbers({7, 1, 5}, dtype), numbers({7, 5, 1}, dtype, 1));
    compare(numbers({7, 9, 1}, dtype), numbers({7, 1, 5}, dtype, 1));
    const Tensor heads = numbers({2, 5, 3, 4}, dtype);                // [B, T, H, d]
    const Tensor q = heads.view_as({2, 3, 5, 4}, {60, 4, 12, 1}, 0);  // [B, H, T, d]
    compare(q, transposed(q));
    compare(q, numbers({4, 8}, dtype));  // rows not in one run
    const Tensor one = numbers({4, 5}, dtype);
    compare(one.view_as({6, 4, 5}, {0, 5, 1}, 0), numbers({6, 5, 2}, dtype));
    compare(one.view_as({6, 4, 3}, {0, 5, 2}, 0), numbers({6, 3, 2}, dtype));  // repeated and awkward
  }
}

TEST_CASE("matmul: sizes of zero") {
  CHECK(kernel::matmul(zeros({2, 0}), zeros({0, 3})).to_vector() == std::vector<double>(6, 0));
  CHECK(kernel::matmul(zeros({2, 0}), zeros({0, 3}), tensor({1, 2, 3})).to_vector() ==
        std::vector<double>{1, 2, 3, 1, 2, 3});
  CHECK(kernel::matmul(zeros({0, 4}), zeros({4, 3})).shape() == Shape{0, 3});
  CHECK(kernel::matmul(zeros({3, 0, 4}), zeros({4, 0})).shape() == Shape{3, 0, 0});
  CHECK(kernel::matmul(zeros({0, 2, 4}), zeros({4, 3})).shape() == Shape{0, 2, 3});
  CHECK(kernel::matmul(zeros({3, 2, 0}), zeros({0, 1})).to_vector() == std::vector<double>(6, 0));
}

TEST_CASE("matmul: infinities and NaN go through, memory that was not set does not") {
  const double inf = INFINITY;
  const Tensor y = kernel::matmul(tensor({{inf, 1}, {NAN, 1}, {1, 1}}), tensor({{1, 1}, {1, 1}}));
  CHECK(std::isinf(y.to_vector()[0]));
  CHECK(std::isnan(y.to_vector()[2]));
  CHECK(y.to_vector()[4] == 2);
  for (const int64_t m : {1, 2, 33}) {  // results in memory that held NaN before
    kernel::full({64, m}, NAN, float32);
    CHECK(largest_difference(
              kernel::matmul(kernel::full({64, 3}, 1, float32), kernel::full({3, m}, 1, float32)),
              kernel::full({64, m}, 3, float32)) == 0);
  }
}

TEST_CASE("matmul: sizes beyond 31 bits are refused") {
  const Tensor one = zeros({1, 1});
  const int64_t huge = int64_t{1} << 31;
  CHECK_THROWS_WITH_AS(kernel::matmul(one.view_as({1, huge}, {0, 0}, 0), one.view_as({huge, 1}, {0, 0}, 0)),
                       doctest::Contains("BLAS counts rows and columns in 31 bits"), Error);
}

TEST_CASE("matmul: counts its floating-point operations") {
  const int64_t before = kernel::product_flops();
  kernel::matmul(zeros({7, 2, 3}), zeros({3, 5}));
  CHECK(kernel::product_flops() - before == 2 * 7 * 2 * 3 * 5);
}

TEST_CASE("matmul: large products, cut into blocks, against the definition") {
  compare(numbers({300, 130}, float32), numbers({130, 700}, float32, 1));
  compare(numbers({1031, 67}, float64), numbers({67, 129}, float64, 1), numbers({129}, float64));
  compare(transposed(numbers({90, 1500}, float32)), numbers({90, 65}, float32, 1));
  compare(numbers({40, 64, 50}, float32), transposed(numbers({40, 64, 50}, float32, 1)));
}

TEST_CASE("matmul: the same bits for every number of threads" * doctest::test_suite("threads")) {
  const int before = num_threads();
  const auto check_bits = [](const Tensor& a, const Tensor& b) {
    set_num_threads(1);
    const Tensor one = kernel::matmul(a, b);
    for (const int threads : {2, 3, 7}) {
      set_num_threads(threads);
      CHECK(same_bits(kernel::matmul(a, b), one));
      CHECK(num_threads() == threads);
    }
  };
  for (const DType dtype : {float32, float64}) {
    check_bits(numbers({512, 300}, dtype), numbers({300, 257}, dtype, 1));
    check_bits(numbers({64, 784}, dtype), transposed(numbers({128, 784}, dtype, 1)));
    check_bits(numbers({100, 100}, dtype),
               numbers({100, 100}, dtype, 1));  // one block: BLAS must not share it out
    check_bits(numbers({64, 60, 32}, dtype), transposed(numbers({64, 60, 32}, dtype, 1)));
    check_bits(numbers({3000, 1000}, dtype), numbers({1000, 1}, dtype, 1));
    check_bits(numbers({1, 1000}, dtype), numbers({1000, 3000}, dtype, 1));
  }
  set_num_threads(before);
}
