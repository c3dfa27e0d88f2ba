#pragma once

#include "autograd/ops/elementwise.h"
#include "autograd/ops/shape.h"
#include "autograd/ops/softmax.h"
#include "nn/module.h"

/// Functions without parameters as layers, for Sequential and for models that choose one. All but Flatten
/// keep the shape.
namespace heed {

struct Identity : Layer<Identity> {
  Tensor forward(const Tensor& x) const { return x; }
};

/// max(x, 0)
struct ReLU : Layer<ReLU> {
  Tensor forward(const Tensor& x) const { return relu(x); }
};

/// x for x > 0, negative_slope x below
struct LeakyReLU : Layer<LeakyReLU> {
  explicit LeakyReLU(double negative_slope = 0.01) : negative_slope(negative_slope) {}
  Tensor forward(const Tensor& x) const { return leaky_relu(x, negative_slope); }
  double negative_slope;
};

/// x for x > 0, alpha (exp(x) - 1) below
struct ELU : Layer<ELU> {
  explicit ELU(double alpha = 1) : alpha(alpha) {}
  Tensor forward(const Tensor& x) const { return elu(x, alpha); }
  double alpha;
};

/// x Phi(x), Phi the normal distribution function; or the approximation by tanh
struct GELU : Layer<GELU> {
  explicit GELU(Gelu approximate = Gelu::none) : approximate(approximate) {}
  Tensor forward(const Tensor& x) const { return gelu(x, approximate); }
  Gelu approximate;
};

/// x sigmoid(x)
struct SiLU : Layer<SiLU> {
  Tensor forward(const Tensor& x) const { return silu(x); }
};

struct Tanh : Layer<Tanh> {
  Tensor forward(const Tensor& x) const { return tanh(x); }
};

/// 1 / (1 + exp(-x))
struct Sigmoid : Layer<Sigmoid> {
  Tensor forward(const Tensor& x) const { return sigmoid(x); }
};

/// log(1 + exp(beta x)) / beta; x itself where beta x is above the threshold
struct Softplus : Layer<Softplus> {
  explicit Softplus(double beta = 1, double threshold = 20) : beta(beta), threshold(threshold) {}
  Tensor forward(const Tensor& x) const { return softplus(x, beta, threshold); }
  double beta, threshold;
};

/// exp(x_i) / sum_j exp(x_j) along one dimension
struct Softmax : Layer<Softmax> {
  explicit Softmax(int64_t dim = -1) : dim(dim) {}
  Tensor forward(const Tensor& x) const { return softmax(x, dim); }
  int64_t dim;
};

/// x_i - log sum_j exp(x_j) along one dimension
struct LogSoftmax : Layer<LogSoftmax> {
  explicit LogSoftmax(int64_t dim = -1) : dim(dim) {}
  Tensor forward(const Tensor& x) const { return log_softmax(x, dim); }
  int64_t dim;
};

/// [B, a, b, ...] -> [B, a b ...]: joins the dimensions from start_dim to end_dim
struct Flatten : Layer<Flatten> {
  explicit Flatten(int64_t start_dim = 1, int64_t end_dim = -1) : start_dim(start_dim), end_dim(end_dim) {}
  Tensor forward(const Tensor& x) const { return flatten(x, start_dim, end_dim); }
  int64_t start_dim, end_dim;
};

}  // namespace heed
