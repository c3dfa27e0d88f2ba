#include "tensor/kernels/norm.h"

#include "tests/support/references.h"

TEST_CASE("norms and their gradients equal public operations and the plain loops") {
  Generator generator(5);
  for (const DType dtype : {float32, float64}) {
    const auto random = [&](const Shape& shape) { return randn(shape, dtype, &generator); };
    const double tolerance = dtype == float32 ? 1e-3 : 1e-10;
    const auto check_norms = [&](const Tensor& x, const Shape& row) {
      INFO(to_string(x.shape()), " rows of ", to_string(row), " ", to_string(dtype));
      const int64_t n = numel(row);
      for (const auto centre : {kernel::Centre::mean, kernel::Centre::zero})
        CHECK(from_plain([&] {
                const kernel::NormResult y = kernel::norm(centre, x, n, {}, {}, 0.25);
                return Tensors{y.y, y.scale, y.mean.defined() ? y.mean : y.y};
              }) < tolerance);
      for (const Tensor& weight : {Tensor(), random(row)}) {
        for (const Tensor& bias : {Tensor(), random(row)})
          CHECK(from_reference([&](auto& in) { return layer_norm(in[0], row, in[1], in[2], 0.25); },
                               {x, weight, bias}) < tolerance);
        CHECK(from_reference([&](auto& in) { return rms_norm(in[0], row, in[1], 0.25); }, {x, weight}) <
              tolerance);
      }
    };
    for (const int64_t n : {1, 2, 7, 8, 64, 513}) check_norms(random({3, n}), {n});
    check_norms(random({2, 3, 4}), {3, 4});
    check_norms(transpose(random({6, 5})), {6});
    check_norms(expand(random({4}), {3, 4}), {4});
    check_norms(random({0, 5}), {5});
    check_norms(random({700, 33}), {33});  // several blocks of rows
  }
}

TEST_CASE("norms of constant rows and of rows far from zero") {
  CHECK(values(layer_norm(full({2, 4}, 3), {4})) == Values(8, 0));
  const double s = 1 / std::sqrt(1.25 + 1e-5);
  CHECK(distance({layer_norm(tensor({10000, 10001, 10002, 10003}), {4})},
                 {tensor({-1.5 * s, -0.5 * s, 0.5 * s, 1.5 * s})}) < 1e-5);
}

TEST_CASE("gradients written with streaming stores have the same bits as for a few rows") {
  Generator generator(6);
  const int64_t rows = 2100, n = 1000;
  const Tensor x = randn({rows, n}, float32, &generator), g = randn({rows, n}, float32, &generator);
  const auto gradient = [&](int64_t first, int64_t count) {
    const Tensor some = clone(narrow(x, 0, first, count)).requires_grad_();
    return grad({layer_norm(some, {n})}, {some}, {.grad_outputs = {narrow(g, 0, first, count)}}).at(0);
  };
  const Tensor all = gradient(0, rows);
  for (const int64_t first : {0, 1000, 2000})
    CHECK(largest_difference(narrow(all, 0, first, 100), gradient(first, 100)) == 0);
}
