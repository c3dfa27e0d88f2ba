#include "tensor/kernels/softmax.h"

#include "autograd/ops/elementwise.h"
#include "tensor/kernels/outer_inner.h"
#include "tests/support/references.h"

TEST_CASE("softmax and log_softmax: every dimension, any strides, sizes around block boundaries") {
  Generator generator(8);
  for (const DType dtype : {float32, float64}) {
    const auto random = [&](const Shape& shape) { return 3 * randn(shape, dtype, &generator); };
    for (const Tensor& x :
         {random({7}), random({2, 3, 5}), transpose(random({6, 4})), slice(random({3, 11}), 1, 1, 11, 2),
          expand(random({3, 1}), {2, 3, 4}), random({4, kernel::kWidth - 1}),
          random({2, 3, kernel::kWidth + 1}), random({kernel::kRun + 1, 2}),
          random({3, kernel::kBlock / 2 + 1}), random({5, 1}), random({0, 3})})
      for (int64_t dim = 0; dim < x.dim(); ++dim) {
        INFO(to_string(x.shape()), " along ", dim);
        const double tolerance = dtype == float32 ? 2e-4 : 1e-12;
        CHECK(from_reference([&](auto& in) { return softmax(in[0], dim); }, {x}) < tolerance);
        CHECK(from_reference([&](auto& in) { return log_softmax(in[0], dim); }, {x}) < tolerance);
        CHECK(from_reference([&](auto& in) { return masked_softmax(in[0], x > 0, dim); }, {x}) < tolerance);
      }
  }
}

TEST_CASE("large, infinite and NaN logits, along the last dimension and another") {
  const double kInf = INFINITY, kNaN = NAN, half = std::log(0.5);
  const Tensor x = tensor(
      {{1000, 1000, 0}, {-1000, -1000, -kInf}, {-kInf, 3, -kInf}, {0, kNaN, 1}, {-kInf, -kInf, -kInf}});
  const Tensor soft =
      tensor({{0.5, 0.5, 0}, {0.5, 0.5, 0}, {0, 1, 0}, {kNaN, kNaN, kNaN}, {kNaN, kNaN, kNaN}});
  const Tensor logs = tensor({{half, half, half - 1000},
                              {half, half, -kInf},
                              {-kInf, 0, -kInf},
                              {kNaN, kNaN, kNaN},
                              {kNaN, kNaN, kNaN}});
  for (const DType dtype : {float32, float64})
    for (const bool transposed : {false, true}) {
      const auto turn = [&](const Tensor& rows) { return transposed ? transpose(rows) : rows; };
      const Tensor in = clone(turn(to(x, dtype)));
      const int64_t dim = transposed ? 0 : 1;
      CHECK(distance({kernel::softmax(in, dim), kernel::log_softmax(in, dim)}, {turn(soft), turn(logs)}) <
            1e-6);
    }
}
