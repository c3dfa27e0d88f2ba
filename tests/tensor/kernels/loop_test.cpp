#include "tensor/kernels/loop.h"

#include "tests/support/references.h"

// Compares apply() with the plain loop.
static void check_added(const Tensor& a, const Tensor& b) {
  CHECK(from_plain([&] {
          const Tensor out = Tensor::empty(broadcast_shapes(a.shape(), b.shape()), float64);
          kernel::apply<double, double, double>([](double u, double v) { return u + 100 * v; }, out, a, b);
          return Tensors{out};
        }) == 0);
}

TEST_CASE("apply: operands with any strides, broadcast and transposed") {
  check_added(counted({3, 4}, float64), counted({3, 4}, float64));
  check_added(counted({3, 4}, float64), counted({4}, float64));
  check_added(counted({3, 1}, float64), counted({1, 4}, float64));
  check_added(counted({3, 4}, float64), counted({}, float64));
  check_added(counted({1, 1}, float64), counted({1}, float64));
  check_added(transpose(counted({4, 3}, float64)), counted({3, 4}, float64));
  check_added(transpose(counted({4, 3}, float64)), transpose(counted({4, 3}, float64)));
  check_added(permute(counted({2, 3, 4, 5}, float64), {3, 1, 0, 2}), counted({3, 1, 4}, float64));
  check_added(slice(counted({4, 10}, float64), 1, 1, 10, 2), expand(counted({4, 1}, float64), {4, 5}));
  check_added(counted({0, 3}, float64), counted({3}, float64));
  // Sizes around a tile, in which transposed operands are copied, and around a block.
  for (const int64_t n : {31, 32, 33, 70}) {
    check_added(transpose(counted({n, 45}, float64)), counted({45, n}, float64));
    check_added(counted({2, n, 65}, float64), permute(counted({65, 2, n}, float64), {1, 2, 0}));
  }
  check_added(counted({2, kernel::kBlock + 5}, float64), counted({2, 1}, float64));
  check_added(counted({kernel::kBlock / 2, 5}, float64), counted({5}, float64));
  check_added(narrow(counted({3, 2 * kernel::kBlock}, float64), 1, 3, kernel::kBlock + 1),
              counted({3, 1}, float64));
}

TEST_CASE("apply: the result may be strided or one of the operands") {
  const Tensor whole_tensor = zeros({40, 50}, float64);
  const Tensor out = transpose(whole_tensor);
  kernel::apply<double, double>([](double v) { return v; }, out, counted({50, 40}, float64));
  CHECK(values(out) == values(counted({50, 40}, float64)));
  kernel::apply<double, double, double>([](double u, double v) { return u + v; }, out, out,
                                        counted({50, 40}, float64));
  CHECK(values(out) == values(2 * counted({50, 40}, float64)));
  const Tensor middle = slice(whole_tensor, 1, 1, 50, 3);
  kernel::apply<double>([] { return 7.0; }, middle);
  CHECK(values(middle) == Values(40 * 17, 7));
  CHECK(whole_tensor[{0, 0}].item() == 0);
}

TEST_CASE("transposed copies of elements of every width") {
  const auto transposes = [](DType dtype) {
    const Tensor x = to(counted({40, 37}, float64) / 3, dtype);
    return values(clone(transpose(x))) == values(transpose(x));
  };
  CHECK(transposes(float32));
  CHECK(transposes(float64));
  CHECK(transposes(int64));
  CHECK(transposes(boolean));
}
