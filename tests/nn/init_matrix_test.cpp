#include "nn/init.h"
#include "tests/support/expect.h"

TEST_CASE("orthogonal: rows, or columns, of length gain at right angles") {
  for (const Shape& shape : {Shape{3, 7}, Shape{7, 3}, Shape{3, 2, 2}}) {
    const Tensor w = to(reshape(init::orthogonal(shape, 2), {shape[0], -1}), float64);
    const Tensor product = w.size(0) <= w.size(1) ? matmul(w, transpose(w)) : matmul(transpose(w), w);
    const int64_t n = product.size(0);
    CHECK(magnitude(product - 4 * eye(n, n, float64)) < 1e-6);
  }
  CHECK(init::orthogonal({0, 3}).numel() == 0);
}

TEST_CASE("fans include the window size") {
  CHECK(init::fans({3, 5}).in == 5);
  CHECK(init::fans({3, 5}).out == 3);
  CHECK(init::fans({3, 5, 2, 2}).in == 20);
  CHECK(init::fans({3, 5, 2, 2}).out == 12);
  CHECK_ERROR(
      init::xavier_uniform({3}),
      "init: a weight of shape [3] has no fan in and fan out; it needs two dimensions at least, [out, in]");
}

TEST_CASE("gains of nonlinearities") {
  using init::Nonlinearity;
  CHECK(init::gain(Nonlinearity::linear) == 1);
  CHECK(init::gain(Nonlinearity::tanh) == doctest::Approx(5.0 / 3));
  CHECK(init::gain(Nonlinearity::relu) == doctest::Approx(std::sqrt(2)));
  CHECK(init::gain(Nonlinearity::leaky_relu, 2) == doctest::Approx(std::sqrt(0.4)));
}
