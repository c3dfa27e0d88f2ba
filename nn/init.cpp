#include "nn/init.h"

#include "autograd/ops/arithmetic.h"

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

// Values in [-b, b) have the variance b^2 / 3.
Tensor uniform_std(const Shape& shape, double std, Generator* generator) {
  const double bound = std::sqrt(3.0) * std;
  return uniform(shape, -bound, bound, generator);
}

// An empty weight may have fans of 0.
double xavier_std(const Shape& shape, double gain) {
  const auto [in, out] = fans(shape);
  return gain * std::sqrt(2 / std::max<double>(in + out, 1));
}

double kaiming_std(const Shape& shape, const KaimingOptions& options) {
  const auto [in, out] = fans(shape);
  const double fan = std::max<double>(options.fan == Fan::in ? in : out, 1);
  return gain(options.nonlinearity, options.negative_slope) / std::sqrt(fan);
}

}  // namespace

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

}  // namespace heed::init
