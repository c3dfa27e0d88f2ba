#pragma once

#include "tensor/create.h"

/// Start values of parameters: each call makes a new tensor, init::normal({out, in}, 0, 0.02). To start a
/// layer anew, assign: layer.weight = init::xavier_uniform(layer.weight.shape()). Without a generator they
/// draw from the thread's default one, see manual_seed.
namespace heed::init {

inline Tensor zeros(const Shape& shape) { return heed::zeros(shape); }  ///< 0 everywhere
inline Tensor ones(const Shape& shape) { return heed::ones(shape); }    ///< 1 everywhere
/// One value everywhere.
inline Tensor constant(const Shape& shape, double value) { return full(shape, value); }
/// Uniform in [low, high). Errors: low above high.
Tensor uniform(const Shape& shape, double low = 0, double high = 1, Generator* generator = nullptr);
/// Uniform in [-1 / sqrt(fan), 1 / sqrt(fan)): what linear and recurrent layers start with, where `fan` is
/// how many inputs are summed.
Tensor uniform_fan_in(int64_t fan, const Shape& shape, Generator* generator = nullptr);
/// Normal with this mean and standard deviation. Errors: std below 0.
Tensor normal(const Shape& shape, double mean = 0, double std = 1, Generator* generator = nullptr);

/// How many inputs each output of a weight [out, in, window...] sums over, and how many outputs each input
/// reaches: in and out, times the size of the window.
struct Fans {
  int64_t in, out;  ///< inputs of each output; outputs of each input
};
/// The fans of a weight. Errors: fewer than two dimensions.
Fans fans(const Shape& shape);

/// The activation that follows a layer, for gain().
enum class Nonlinearity { linear, sigmoid, tanh, relu, leaky_relu, selu };
/// By how much weights must be larger to make up for what the activation takes from the variance:
/// linear, sigmoid 1, tanh 5/3, relu sqrt 2, leaky_relu sqrt(2 / (1 + slope^2)), selu 3/4.
double gain(Nonlinearity nonlinearity, double negative_slope = 0.01);

/// Uniform in [-a, a), a = sqrt(3) std, with the variance std^2 = gain^2 * 2 / (fan in + fan out): between
/// what keeps activations and what keeps gradients alike in size from layer to layer (Glorot and Bengio,
/// 2010).
Tensor xavier_uniform(const Shape& shape, double gain = 1, Generator* generator = nullptr);
/// Normal, with the mean 0 and the variance of xavier_uniform.
Tensor xavier_normal(const Shape& shape, double gain = 1, Generator* generator = nullptr);

/// Which of the two fans counts.
enum class Fan { in, out };
/// Choices of kaiming_uniform and kaiming_normal.
struct KaimingOptions {
  double negative_slope = 0;  ///< of the leaky relu that follows
  Fan fan = Fan::in;          ///< in keeps the size of activations, out that of gradients
  Nonlinearity nonlinearity = Nonlinearity::leaky_relu;  ///< what follows, for gain()
  Generator* generator = nullptr;                        ///< null: the thread's default
};
/// Uniform in [-a, a), a = sqrt(3) std, with the variance std^2 = gain^2 / fan: for layers followed by
/// rectifiers (He et al., 2015).
Tensor kaiming_uniform(const Shape& shape, KaimingOptions options = {});
/// Normal, with the mean 0 and the variance of kaiming_uniform.
Tensor kaiming_normal(const Shape& shape, KaimingOptions options = {});

/// A matrix [shape[0], rest] whose rows, or columns if they are fewer, are orthogonal and of length `gain`
/// (Saxe, McClelland and Ganguli, 2014). Errors: fewer than two dimensions.
Tensor orthogonal(const Shape& shape, double gain = 1, Generator* generator = nullptr);

}  // namespace heed::init
