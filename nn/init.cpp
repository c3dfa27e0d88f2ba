#include "nn/init.h"

#include <numeric>

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/shape.h"

namespace heed::init {

Tensor uniform(const Shape& shape, double low, double high, Generator* generator) {
  check(low <= high, "init::uniform: low is ", low, ", high is ", high, "; low must not be above high");
  return rand(shape, float32, generator) * (high - low) + low;
}

Tensor uniform_fan_in(int64_t fan, const Shape& shape, Generator* generator) {
  const double bound = fan > 0 ? 1 / std::sqrt(static_cast<double>(fan)) : 0;
  return uniform(shape, -bound, bound, generator);
}

Tensor normal(const Shape& shape, double mean, double std, Generator* generator) {
  check(std >= 0, "init::normal: std is ", std, "; it must not be negative");
  return randn(shape, float32, generator) * std + mean;
}

Fans fans(const Shape& shape) {
  check(shape.dim() >= 2, "init: a weight of shape ", shape,
        " has no fan in and fan out; it needs two dimensions at least, [out, in]");
  int64_t window = 1;
  for (int64_t d = 2; d < shape.dim(); ++d) window *= shape[d];
  return {shape[1] * window, shape[0] * window};
}

double gain(Nonlinearity nonlinearity, double negative_slope) {
  const double leaky_relu = std::sqrt(2 / (1 + negative_slope * negative_slope));
  const double gains[] = {1, 1, 5.0 / 3, std::sqrt(2.0), leaky_relu, 0.75};  // in the order of Nonlinearity
  return gains[static_cast<size_t>(nonlinearity)];
}

namespace {

// A uniform variable in [-b, b) has variance b^2 / 3.
Tensor symmetric(const Shape& shape, double std, Generator* generator) {
  const double bound = std::sqrt(3.0) * std;
  return uniform(shape, -bound, bound, generator);
}

// A weight without inputs or outputs has no values, so any deviation will do, and 1 stands for their number.
double xavier_std(const Shape& shape, double gain) {
  const auto [in, out] = fans(shape);
  return gain * std::sqrt(2 / std::max<double>(in + out, 1));
}

double kaiming_std(const Shape& shape, const KaimingOptions& options) {
  const Fans both = fans(shape);
  const int64_t fan = options.fan == Fan::in ? both.in : both.out;
  return gain(options.nonlinearity, options.negative_slope) / std::sqrt(std::max<double>(fan, 1));
}

}  // namespace

Tensor xavier_uniform(const Shape& shape, double gain, Generator* generator) {
  return symmetric(shape, xavier_std(shape, gain), generator);
}

Tensor xavier_normal(const Shape& shape, double gain, Generator* generator) {
  return normal(shape, 0, xavier_std(shape, gain), generator);
}

Tensor kaiming_uniform(const Shape& shape, KaimingOptions options) {
  return symmetric(shape, kaiming_std(shape, options), options.generator);
}

Tensor kaiming_normal(const Shape& shape, KaimingOptions options) {
  return normal(shape, 0, kaiming_std(shape, options), options.generator);
}

// Gram and Schmidt on normal vectors: what is left of each after its part along those before it, twice,
// because the first time leaves rounding errors.
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
    for (int again = 0; again < 2; ++again)
      for (const double* u = first; u != v; u += length) {
        const double along = dot(u, v);
        for (int64_t i = 0; i < length; ++i) v[i] -= along * u[i];
      }
    const double scale = 1 / std::sqrt(dot(v, v));
    for (int64_t i = 0; i < length; ++i) v[i] *= scale;
  }
  const Tensor matrix = rows <= columns ? vectors : TensorImpl::view(vectors, {rows, columns}, {1, rows});
  return reshape(to(matrix * gain, float32), shape);
}

}  // namespace heed::init
