#pragma once

#include "autograd/ops/activation.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/shape.h"
#include "autograd/ops/softmax.h"
#include "nn/module.h"

/// Functions without parameters as layers, for Sequential and for models with a choice of activation. All
/// except Flatten keep the shape.
namespace heed {

/// A function of one tensor as a layer.
template <class Self, Tensor (*function)(Operand)>
struct FunctionLayer : Layer<Self> {
  Tensor forward(const Tensor& x) const { return function(x); }
};

/// y = x
struct Identity : Layer<Identity> {
  Tensor forward(const Tensor& x) const { return x; }
};

/// y = max(x, 0)
struct ReLU : FunctionLayer<ReLU, relu> {};

/// y = x where x > 0, else negative_slope x
struct LeakyReLU : Layer<LeakyReLU> {
  explicit LeakyReLU(double slope = 0.01) : negative_slope(slope) {}
  Tensor forward(const Tensor& x) const { return leaky_relu(x, negative_slope); }
  double negative_slope;
};

/// y = x where x > 0, else alpha (exp(x) - 1), which tends to -alpha (Clevert, Unterthiner and Hochreiter,
/// 2016)
struct ELU : Layer<ELU> {
  explicit ELU(double scale = 1) : alpha(scale) {}
  Tensor forward(const Tensor& x) const { return elu(x, alpha); }
  double alpha;
};

/// y = x Phi(x), with the normal distribution function Phi; or its approximation by tanh, see gelu()
struct GELU : Layer<GELU> {
  explicit GELU(Gelu form = Gelu::none) : approximate(form) {}
  Tensor forward(const Tensor& x) const { return gelu(x, approximate); }
  Gelu approximate;
};

/// y = x sigmoid(x)
struct SiLU : FunctionLayer<SiLU, silu> {};

/// y = tanh(x)
struct Tanh : FunctionLayer<Tanh, tanh> {};

/// y = 1 / (1 + exp(-x))
struct Sigmoid : FunctionLayer<Sigmoid, sigmoid> {};

/// y = log(1 + exp(beta x)) / beta; y = x where beta x is above the threshold
struct Softplus : Layer<Softplus> {
  explicit Softplus(double sharpness = 1, double limit = 20) : beta(sharpness), threshold(limit) {}
  Tensor forward(const Tensor& x) const { return softplus(x, beta, threshold); }
  double beta, threshold;
};

/// y_i = exp(x_i) / sum_j exp(x_j) along dimension dim
struct Softmax : Layer<Softmax> {
  explicit Softmax(int64_t axis = -1) : dim(axis) {}
  Tensor forward(const Tensor& x) const { return softmax(x, dim); }
  int64_t dim;
};

/// y_i = x_i - log sum_j exp(x_j) along dimension dim
struct LogSoftmax : Layer<LogSoftmax> {
  explicit LogSoftmax(int64_t axis = -1) : dim(axis) {}
  Tensor forward(const Tensor& x) const { return log_softmax(x, dim); }
  int64_t dim;
};

/// [B, a, b, ...] -> [B, a b ...]: joins the dimensions start_dim to end_dim, both included
struct Flatten : Layer<Flatten> {
  explicit Flatten(int64_t first = 1, int64_t last = -1) : start_dim(first), end_dim(last) {}
  Tensor forward(const Tensor& x) const { return flatten(x, start_dim, end_dim); }
  int64_t start_dim, end_dim;
};

}  // namespace heed
