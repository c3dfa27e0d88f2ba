#pragma once

#include "autograd/ops/elementwise.h"
#include "autograd/ops/shape.h"
#include "autograd/ops/softmax.h"
#include "nn/module.h"

/// Functions without parameters as layers, for Sequential and for models that choose one. All but Flatten
/// keep the shape.
namespace heed {

/// y = x
struct Identity : Layer<Identity> {
  Tensor forward(const Tensor& x) const { return x; }
};

/// y = max(x, 0)
struct ReLU : Layer<ReLU> {
  Tensor forward(const Tensor& x) const { return relu(x); }
};

/// y = x for x > 0, negative_slope x below
struct LeakyReLU : Layer<LeakyReLU> {
  /// The slope below 0.
  explicit LeakyReLU(double negative_slope = 0.01) : negative_slope(negative_slope) {}
  Tensor forward(const Tensor& x) const { return leaky_relu(x, negative_slope); }
  double negative_slope;  ///< the slope below 0
};

/// y = x for x > 0, alpha (exp(x) - 1) below (Clevert, Unterthiner and Hochreiter, 2016)
struct ELU : Layer<ELU> {
  /// Far below 0, y is -alpha.
  explicit ELU(double alpha = 1) : alpha(alpha) {}
  Tensor forward(const Tensor& x) const { return elu(x, alpha); }
  double alpha;  ///< far below 0, y is -alpha
};

/// y = x Phi(x), Phi the normal distribution function; or the approximation by tanh, see gelu()
struct GELU : Layer<GELU> {
  /// Gelu::none or Gelu::tanh.
  explicit GELU(Gelu approximate = Gelu::none) : approximate(approximate) {}
  Tensor forward(const Tensor& x) const { return gelu(x, approximate); }
  Gelu approximate;  ///< whether by tanh
};

/// y = x sigmoid(x)
struct SiLU : Layer<SiLU> {
  Tensor forward(const Tensor& x) const { return silu(x); }
};

/// y = tanh(x)
struct Tanh : Layer<Tanh> {
  Tensor forward(const Tensor& x) const { return tanh(x); }
};

/// y = 1 / (1 + exp(-x))
struct Sigmoid : Layer<Sigmoid> {
  Tensor forward(const Tensor& x) const { return sigmoid(x); }
};

/// y = log(1 + exp(beta x)) / beta; x itself where beta x is above the threshold
struct Softplus : Layer<Softplus> {
  /// How sharply it bends, and where it is taken for straight.
  explicit Softplus(double beta = 1, double threshold = 20) : beta(beta), threshold(threshold) {}
  Tensor forward(const Tensor& x) const { return softplus(x, beta, threshold); }
  double beta, threshold;  ///< how sharply it bends; where it is taken for straight
};

/// y_i = exp(x_i) / sum_j exp(x_j) along one dimension
struct Softmax : Layer<Softmax> {
  /// The dimension; -1 is the last.
  explicit Softmax(int64_t dim = -1) : dim(dim) {}
  Tensor forward(const Tensor& x) const { return softmax(x, dim); }
  int64_t dim;  ///< the dimension; -1 is the last
};

/// y_i = x_i - log sum_j exp(x_j) along one dimension
struct LogSoftmax : Layer<LogSoftmax> {
  /// The dimension; -1 is the last.
  explicit LogSoftmax(int64_t dim = -1) : dim(dim) {}
  Tensor forward(const Tensor& x) const { return log_softmax(x, dim); }
  int64_t dim;  ///< the dimension; -1 is the last
};

/// [B, a, b, ...] -> [B, a b ...]: joins the dimensions from start_dim to end_dim
struct Flatten : Layer<Flatten> {
  /// The first and the last dimension to be joined.
  explicit Flatten(int64_t start_dim = 1, int64_t end_dim = -1) : start_dim(start_dim), end_dim(end_dim) {}
  Tensor forward(const Tensor& x) const { return flatten(x, start_dim, end_dim); }
  int64_t start_dim, end_dim;  ///< the first dimension to be joined; the last one
};

}  // namespace heed
