#pragma once

#include "autograd/ops/arithmetic.h"
#include "tensor/create.h"

/// Start values of parameters. Each call makes a new float32 tensor: init::normal({out, in}, 0, 0.02). To
/// initialize a layer again, assign: layer.weight = init::xavier_uniform(layer.weight.shape()). The default
/// generator is that of the thread, see manual_seed.
namespace heed::init {

/// All 0.
inline Tensor zeros(const Shape& shape) { return heed::zeros(shape); }
/// All 1.
inline Tensor ones(const Shape& shape) { return heed::ones(shape); }
/// All `value`.
inline Tensor constant(const Shape& shape, double value) { return full(shape, value); }
/// Uniform in [low, high). Errors: low above high.
inline Tensor uniform(const Shape& shape, double low = 0, double high = 1, Generator* generator = nullptr) {
  check(low <= high, "init::uniform: low is ", low, ", high is ", high, "; low must not be above high");
  return rand(shape, float32, generator) * (high - low) + low;
}
/// Uniform in [-1 / sqrt(fan), 1 / sqrt(fan)), where `fan` is the number of inputs of each output.
inline Tensor uniform_fan_in(int64_t fan, const Shape& shape, Generator* generator = nullptr) {
  const double bound = fan > 0 ? 1 / std::sqrt(static_cast<double>(fan)) : 0;
  return uniform(shape, -bound, bound, generator);
}
/// Normal. Errors: std below 0.
inline Tensor normal(const Shape& shape, double mean = 0, double std = 1, Generator* generator = nullptr) {
  check(std >= 0, "init::normal: std is ", std, "; it must not be negative");
  return randn(shape, float32, generator) * std + mean;
}

/// The number of inputs of each output, and of outputs of each input.
struct Fans {
  int64_t in, out;
};
/// The fans of a weight [out, in, window...]: in and out, each times the size of the window. Errors: fewer
/// than two dimensions.
Fans fans(const Shape& shape);

/// The activation that follows a layer.
enum class Nonlinearity { linear, sigmoid, tanh, relu, leaky_relu, selu };
/// The factor on the standard deviation of the weights that compensates for the activation: linear, sigmoid
/// 1, tanh 5/3, relu sqrt 2, leaky_relu sqrt(2 / (1 + slope^2)), selu 3/4.
double gain(Nonlinearity nonlinearity, double negative_slope = 0.01);

/// Uniform with mean 0 and variance gain^2 * 2 / (fan in + fan out): activations and gradients have similar
/// sizes in all layers (Glorot and Bengio, 2010).
Tensor xavier_uniform(const Shape& shape, double gain = 1, Generator* generator = nullptr);
/// Normal with the same mean and variance.
Tensor xavier_normal(const Shape& shape, double gain = 1, Generator* generator = nullptr);

/// The fan that determines the variance.
enum class Fan { in, out };
/// Options of kaiming_uniform and kaiming_normal.
struct KaimingOptions {
  double negative_slope = 0;  ///< Of the leaky relu that follows.
  Fan fan = Fan::in;          ///< in keeps the size of activations, out that of gradients.
  Nonlinearity nonlinearity = Nonlinearity::leaky_relu;
  Generator* generator = nullptr;
};
/// Uniform with mean 0 and variance gain^2 / fan, for layers before a relu (He et al., 2015).
Tensor kaiming_uniform(const Shape& shape, KaimingOptions options = {});
/// Normal with the same mean and variance.
Tensor kaiming_normal(const Shape& shape, KaimingOptions options = {});

/// A matrix [shape[0], rest] whose rows, or columns if they are fewer, are orthogonal and of length `gain`
/// (Saxe, McClelland and Ganguli, 2014). Errors: fewer than two dimensions.
Tensor orthogonal(const Shape& shape, double gain = 1, Generator* generator = nullptr);

}  // namespace heed::init
