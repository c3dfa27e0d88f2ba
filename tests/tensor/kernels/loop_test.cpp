#include "tensor/kernels/loop.h"

#include <doctest/doctest.h>

#include "heed.h"
#include "tests/support/expect.h"

using namespace heed;

namespace {

// What apply should give, element by element through positions.
std::vector<double> added(const Tensor& a, const Tensor& b, const Shape& shape) {
  const std::vector<double> u = values(expand(a, shape)), v = values(expand(b, shape));
  std::vector<double> sum(u.size());
  for (size_t i = 0; i < u.size(); ++i) sum[i] = u[i] + 100 * v[i];
  return sum;
}

void check_added(const Tensor& a, const Tensor& b) {
  const Shape shape = broadcast_shapes(a.shape(), b.shape());
  const Tensor out = Tensor::empty(shape, float64);
  kernel::apply<double, double, double>([](double u, double v) { return u + 100 * v; }, out, a, b);
  CHECK(values(out) == added(a, b, shape));
}

Tensor counted(const Shape& shape) {
  return reshape(arange(0, static_cast<double>(numel(shape)), 1, float64), shape);
}

}  // namespace

TEST_CASE("operands of any strides, broadcast and crossed") {
  check_added(counted({3, 4}), counted({3, 4}));
  check_added(counted({3, 4}), counted({4}));
  check_added(counted({3, 1}), counted({1, 4}));
  check_added(counted({3, 4}), counted({}));
  check_added(counted({1, 1}), counted({1}));
  check_added(transpose(counted({4, 3})), counted({3, 4}));
  check_added(transpose(counted({4, 3})), transpose(counted({4, 3})));
  check_added(permute(counted({2, 3, 4, 5}), {3, 1, 0, 2}), counted({3, 1, 4}));
  check_added(slice(counted({4, 10}), 1, 1, 10, 2), expand(counted({4, 1}), {4, 5}));
  check_added(counted({0, 3}), counted({3}));
  // Around the size of a tile, which transposed operands are read by, and of a block.
  for (const int64_t n : {31, 32, 33, 70}) {
    check_added(transpose(counted({n, 45})), counted({45, n}));
    check_added(counted({2, n, 65}), permute(counted({65, 2, n}), {1, 2, 0}));
  }
  check_added(counted({2, kernel::kBlock + 5}), counted({2, 1}));
  check_added(counted({kernel::kBlock / 2, 5}), counted({5}));
  check_added(narrow(counted({3, 2 * kernel::kBlock}), 1, 3, kernel::kBlock + 1), counted({3, 1}));
}

TEST_CASE("results may be strided, and be one of the operands") {
  const Tensor whole_tensor = zeros({40, 50}, float64);
  const Tensor out = transpose(whole_tensor);
  kernel::apply<double, double>([](double v) { return v; }, out, counted({50, 40}));
  CHECK(values(out) == values(counted({50, 40})));
  kernel::apply<double, double, double>([](double u, double v) { return u + v; }, out, out,
                                        counted({50, 40}));
  CHECK(values(out) == values(2 * counted({50, 40})));
  const Tensor middle = slice(whole_tensor, 1, 1, 50, 3);
  kernel::apply<double>([] { return 7.0; }, middle);
  CHECK(values(middle) == std::vector<double>(40 * 17, 7));
  CHECK(whole_tensor[{0, 0}].item() == 0);
}

TEST_CASE("elements of every width cross") {
  const auto turned = [](DType dtype) {
    const Tensor x = to(counted({40, 37}) / 3, dtype);
    return values(clone(transpose(x))) == values(transpose(x));
  };
  CHECK(turned(float32));
  CHECK(turned(float64));
  CHECK(turned(int64));
  CHECK(turned(boolean));
}
