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

}  // namespace heed::init
