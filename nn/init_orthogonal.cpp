#include <numeric>

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/shape.h"
#include "nn/init.h"

namespace heed::init {

// Gram-Schmidt on normal vectors: subtracts from each its projections on those before it, twice because of
// rounding errors.
Tensor orthogonal(const Shape& shape, double gain, Generator* generator) {
  check(shape.dim() >= 2, "init::orthogonal: shape ", shape, " is not that of a matrix");
  const int64_t rows = shape[0], columns = rows > 0 ? numel(shape) / rows : 0;
  const int64_t count = std::min(rows, columns), length = std::max(rows, columns);
  const Tensor vectors = randn({count, length}, float64, generator);
  auto* const first = vectors.mutable_data<double>();
  const auto dot = [length](const double* a, const double* b) {
    return std::inner_product(a, a + length, b, 0.0);
  };
  for (double* v = first; v != first + count * length; v += length) {
    for (int round = 0; round < 2; ++round)
      for (const double* u = first; u != v; u += length) {
        const double projection = dot(u, v);
        for (int64_t i = 0; i < length; ++i) v[i] -= projection * u[i];
      }
    const double scale = 1 / std::sqrt(dot(v, v));
    for (int64_t i = 0; i < length; ++i) v[i] *= scale;
  }
  const Tensor matrix = rows <= columns ? vectors : TensorImpl::view(vectors, {rows, columns}, {1, rows});
  return reshape(to(matrix * gain, float32), shape);
}

}  // namespace heed::init
