#include "tensor/kernels/matmul.h"

#include "tensor/kernels/elementwise.h"
#include "tests/support/references.h"

static Tensor numbers(const Shape& shape, DType dtype, uint64_t seed = 1) {
  Generator generator(seed);
  return randn(shape, dtype, &generator);
}

// Compares the product with the plain loops, within rounding.
static void compare(const Tensor& a, const Tensor& b, const Tensor& start = {}, double alpha = 1) {
  INFO(to_string(a.shape()), " of ", to_string(a.strides()), " and ", to_string(b.shape()), " of ",
       to_string(b.strides()));
  const double bound = (a.dtype() == float32 ? 1e-6 : 1e-14) * static_cast<double>(8 + a.size(-1));
  CHECK(from_plain([&] { return Tensors{kernel::matmul(a, b, start, alpha)}; }) < bound);
}

TEST_CASE("matmul: small sizes, both dtypes, each operand transposed or not") {
  for (const DType dtype : {float32, float64})
    for (const int64_t n : {1, 2, 3, 17})
      for (const int64_t k : {0, 1, 2, 5, 33, 200})
        for (const int64_t m : {1, 2, 4, 19})
          for (const bool ta : {false, true})
            for (const bool tb : {false, true}) {
              const Tensor a = ta ? transpose(numbers({k, n}, dtype)) : numbers({n, k}, dtype);
              const Tensor b = tb ? transpose(numbers({m, k}, dtype, 2)) : numbers({k, m}, dtype, 2);
              compare(a, b);
              compare(a, b, numbers({m}, dtype, 3), 0.5);
            }
}

TEST_CASE("matmul: strides of any kind") {
  const Tensor wide = numbers({6, 40}, float64), b = numbers({5, 3}, float64, 2);
  const struct {
    Shape shape, strides;
    int64_t offset;
  } views[] = {{{4, 5}, {40, 2}, 3},                       // every second column
               {{3, 5}, {80, 1}, 3}, {{4, 5}, {0, 1}, 7},  // one row repeated
               {{4, 5}, {1, 0}, 7},                        // one column repeated
               {{4, 5}, {0, 0}, 7},                        // one number repeated
               {{4, 5}, {1, 1}, 7},                        // overlapping windows
               {{1, 5}, {1, 0}, 7},  {{1, 5}, {1, 7}, 0}, {{2, 4, 5}, {1, 7, 3}, 0}};
  for (const auto& [shape, strides, offset] : views)
    compare(TensorImpl::view(wide, shape, strides, offset), b);
  compare(TensorImpl::view(wide, {4, 5}, {2, 9}, 0), TensorImpl::view(b, {5, 1}, {0, 0}, 2));
  for (const int64_t n : {1, 4}) compare(numbers({n, 1}, float64), TensorImpl::view(wide, {1, 5}, {7, 3}, 1));
}

TEST_CASE("matmul: leading dimensions broadcast") {
  for (const DType dtype : {float32, float64}) {
    const auto a = [&](const Shape& shape) { return numbers(shape, dtype); };
    const auto b = [&](const Shape& shape) { return numbers(shape, dtype, 2); };
    compare(a({2, 1, 4, 5}), b({3, 5, 6}));
    compare(a({4, 5}), b({7, 5, 6}));
    compare(a({7, 2, 4, 5}), b({5, 6}), numbers({6}, dtype, 3));
    compare(a({7, 2, 4, 5}), b({5, 6}), numbers({2, 1, 6}, dtype, 3));
    compare(a({7, 1, 5}), b({7, 5, 1}));
    compare(a({7, 9, 1}), b({7, 1, 5}));
    const Tensor q = transpose(a({2, 5, 3, 4}), 1, 2);  // [B, T, H, D] as [B, H, T, D]
    compare(q, transpose(q));
    compare(q, b({4, 8}));  // rows that are not contiguous
    const Tensor one = a({4, 5});
    compare(expand(one, {6, 4, 5}), b({6, 5, 2}));
    compare(TensorImpl::view(one, {6, 4, 3}, {0, 5, 2}, 0),
            b({6, 3, 2}));  // repeated, with strides that BLAS does not support
  }
}

TEST_CASE("matmul: infinities and NaN propagate, uninitialized memory does not") {
  const Tensor y = kernel::matmul(tensor({{INFINITY, 1}, {NAN, 1}, {1, 1}}), ones({2, 2}));
  CHECK(distance({y}, {tensor({{INFINITY, INFINITY}, {NAN, NAN}, {2, 2}})}) == 0);
  for (const int64_t m : {1, 2, 33}) {  // memory that contained NaN is reused
    kernel::full({64, m}, NAN, float32);
    CHECK(distance({kernel::matmul(ones({64, 3}), ones({3, m}))}, {full({64, m}, 3)}) == 0);
  }
}

TEST_CASE("matmul: sizes beyond 31 bits throw") {
  const Tensor one = zeros({1, 1});
  const int64_t huge = int64_t{1} << 31;
  CHECK_ERROR_HAS(kernel::matmul(TensorImpl::view(one, {1, huge}, {0, 0}, 0),
                                 TensorImpl::view(one, {huge, 1}, {0, 0}, 0)),
                  "BLAS counts rows and columns in 31 bits");
}

TEST_CASE("matmul: large products, cut into tiles") {
  compare(numbers({300, 40}, float32), numbers({40, 700}, float32, 2));
  compare(numbers({1031, 67}, float64), numbers({67, 129}, float64, 2), numbers({129}, float64));
  compare(transpose(numbers({90, 1500}, float32)), numbers({90, 65}, float32, 2));
  compare(numbers({40, 64, 50}, float32), transpose(numbers({40, 64, 50}, float32, 2)));
}

TEST_CASE("matmul: the same bits for every number of threads" * doctest::test_suite("threads")) {
  const std::pair<Shape, Shape> sizes[] = {{{512, 300}, {300, 257}},     {{64, 784}, {784, 128}},
                                           {{100, 100}, {100, 100}},  // one tile: BLAS must not split it
                                           {{64, 60, 32}, {64, 32, 60}}, {{3000, 1000}, {1000, 1}},
                                           {{1, 1000}, {1000, 3000}}};
  const int before = num_threads();
  for (const DType dtype : {float32, float64})
    for (const auto& [a, b] : sizes) {
      const Tensor x = numbers(a, dtype), y = numbers(b, dtype, 2);
      CHECK(same_on_threads([&] {
        return Tensors{kernel::matmul(x, y), kernel::matmul(x, transpose(clone(transpose(y))))};
      }));
    }
  CHECK(num_threads() == before);
}
