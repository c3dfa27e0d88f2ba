// Start values of matrices: Xavier, Kaiming, orthogonal.

#include <numeric>

#include "autograd/ops/shape.h"
#include "nn/init.h"

namespace heed::init {

Fans fans(const Shape& shape) {
  check(shape.dim() >= 2, "init: a weight of shape ", shape,
        " has no fan in and fan out; it needs two dimensions at least, [out, in]");
  const int64_t window = std::accumulate(shape.begin() + 2, shape.end(), int64_t{1}, std::multiplies<>());
  return {shape[1] * window, shape[0] * window};
}

double gain(Nonlinearity nonlinearity, double negative_slope) {
  const double leaky_relu = std::sqrt(2 / (1 + negative_slope * negative_slope));
  const double gains[] = {1, 1, 5.0 / 3, std::sqrt(2.0), leaky_relu, 0.75};  // in the order of Nonlinearity
  return gains[static_cast<size_t>(nonlinearity)];
}

// Values in [-b, b) have the variance b^2 / 3.
static Tensor uniform_std(const Shape& shape, double std, Generator* generator) {
  const double bound = std::sqrt(3.0) * std;
  return uniform(shape, -bound, bound, generator);
}

// An empty weight may have fans of 0.
static double xavier_std(const Shape& shape, double gain) {
  const auto [in, out] = fans(shape);
  return gain * std::sqrt(2 / std::max<double>(in + out, 1));
}

static double kaiming_std(const Shape& shape, const KaimingOptions& options) {
  const auto [in, out] = fans(shape);
  const double fan = std::max<double>(options.fan == Fan::in ? in : out, 1);
  return gain(options.nonlinearity, options.negative_slope) / std::sqrt(fan);
}

Tensor xavier_uniform(const Shape& shape, double gain, Generator* generator) {
  return uniform_std(shape, xavier_std(shape, gain), generator);
}
Tensor xavier_normal(const Shape& shape, double gain, Generator* generator) {
  return normal(shape, 0, xavier_std(shape, gain), generator);
}
Tensor kaiming_uniform(const Shape& shape, KaimingOptions options) {
  return uniform_std(shape, kaiming_std(shape, options), options.generator);
}
Tensor kaiming_normal(const Shape& shape, KaimingOptions options) {
  return normal(shape, 0, kaiming_std(shape, options), options.generator);
}

// Gram-Schmidt on normal vectors: subtracts from each vector its projections on the earlier ones, twice
// because of rounding errors.
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
