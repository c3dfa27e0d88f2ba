#include "nn/init.h"
#include "tests/support/expect.h"

using namespace heed;

TEST_CASE("orthogonal: rows, or columns, of length gain at right angles") {
  for (const Shape& shape : {Shape{3, 7}, Shape{7, 3}, Shape{3, 2, 2}}) {
    const Tensor w = to(reshape(init::orthogonal(shape, 2), {shape[0], -1}), float64);
    const Tensor product = w.size(0) <= w.size(1) ? matmul(w, transpose(w)) : matmul(transpose(w), w);
    const int64_t n = product.size(0);
    CHECK(magnitude(product - 4 * eye(n, n, float64)) < 1e-6);
  }
  CHECK(init::orthogonal({0, 3}).numel() == 0);
}
