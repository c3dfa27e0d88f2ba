#include "autograd/ops/scan.h"

#include "tests/support/expect.h"

TEST_CASE("cumprod: exact gradients at zeros; bool and scalars") {
  const Tensor x = leaf({2, 0, 3, 0, 5}), y = cumprod(x, 0);
  CHECK(values(y) == Values{2, 0, 0, 0, 0});
  sum(y * tensor({1, 2, 3, 4, 5}, float64)).backward();
  CHECK(values(x.grad()) == Values{1, 22, 0, 0, 0});
  const Tensor bools = cumprod(tensor({1, 1, 0, 1}, boolean), -1);
  CHECK(bools.dtype() == int64);
  CHECK(values(bools) == Values{1, 1, 0, 0});
  CHECK(cumprod(tensor(3), 0).item() == 3);
  CHECK(cumprod(zeros({2, 0}), 1).shape() == Shape{2, 0});
  CHECK_FALSE(share_memory(cumprod(x, 0), x));
}

TEST_CASE("associative_scan: any length and dimension, in order, forwards and backwards") {
  // [a, b] stands for the map v -> a v + b; composition is associative and does not commute.
  const auto compose = [](const auto& l, const auto& r) { return Tensors{l[0] * r[0], r[0] * l[1] + r[1]}; };
  for (const int64_t n : {0, 1, 2, 3, 4, 5, 7, 8, 9, 31})
    for (const int64_t dim : {0, 1, -1})
      for (const bool reverse : {false, true}) {
        CAPTURE(n);
        Shape shape = {2, 3, 2};
        shape[dim < 0 ? 2 : dim] = n;
        const Tensor a = randn(shape, float64), b = randn(shape, float64);
        const Tensors ys = associative_scan(compose, {a, b}, dim, reverse);
        REQUIRE(ys[1].shape() == shape);
        Tensor h = zeros_like(sum(b, dim));
        for (int64_t i = 0; i < n; ++i) {
          const int64_t at = reverse ? n - 1 - i : i;
          h = select(a, dim, at) * h + select(b, dim, at);
          CHECK(largest_difference(select(ys[1], dim, at), h) < 1e-12);
        }
      }
}

TEST_CASE("associative_scan: the function is called 2 log2(n) times, for 2 n positions") {
  int64_t calls = 0, positions = 0;
  const auto larger = [&](const Tensor& a, const Tensor& b) {
    ++calls;
    positions += a.size(-1);
    return maximum(a, b);
  };
  const Tensor x = tensor({3, 1, 4, 1, 5, 9, 2, 6});
  CHECK(values(associative_scan(larger, x, 0)) == Values{3, 3, 4, 4, 5, 9, 9, 9});
  CHECK(calls == 5);
  CHECK(positions == 11);
  const Tensor eight = randn({1, 2, 1, 1, 1, 1, 4, 3});  // the most dimensions
  CHECK(largest_difference(associative_scan([](auto& a, auto& b) { return a + b; }, eight, -2),
                           cumsum(eight, -2)) < 1e-6);
}

TEST_CASE("associative_scan: invalid functions and tensors") {
  const Tensor x = counted({4, 2});
  const auto add_up = [](const auto& a, const auto& b) { return Tensors{a[0] + b[0]}; };
  CHECK_ERROR(
      associative_scan([](auto& a, auto&) { return sum(a); }, x, 0),
      "associative_scan: combine gave float32 [] for two tensors that are float32 [2, 2]; they must be "
      "equal");
  CHECK_ERROR(associative_scan(add_up, {x, x}, 0), "associative_scan: combine gave 1 tensors for 2");
  CHECK_ERROR(associative_scan(add_up, {x, counted({3, 2})}, 0),
              "associative_scan: tensors of shapes [4, 2] and [3, 2] differ in dimension 0");
  CHECK_ERROR(associative_scan(add_up, Tensors(), 0), "associative_scan: there are no tensors to scan");
  CHECK_ERROR_HAS(associative_scan(add_up, {x, x}, 2), "dim 2 is out of range");
}
