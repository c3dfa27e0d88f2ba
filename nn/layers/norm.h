#pragma once

#include <optional>

#include <limits>

#include "autograd/ops/norm.h"
#include "nn/init.h"
#include "nn/module.h"

/// Layers of one size: mean and variance, or the root of the mean square, over the last dimensions.
namespace heed {

/// Choices of LayerNorm.
struct LayerNormOptions {
  double eps = 1e-5;               ///< keeps the root away from 0
  bool elementwise_affine = true;  ///< learn weight and bias
  bool bias = true;                ///< learn the bias too
};

/// y = (x - mean) / sqrt(var + eps) * weight + bias, mean and variance over the last dimensions
/// (Ba, Kiros and Hinton, 2016).
///
///   x          [..., normalized_shape]; LayerNorm(64), LayerNorm({8, 64})
///   returns    same shape
///
/// Start: weight one, bias zero. State dict: weight, bias. Errors: x that does not end in normalized_shape.
struct LayerNorm : Layer<LayerNorm> {
  /// A size or sizes: what x ends in.
  explicit LayerNorm(const Dims& normalized_shape, LayerNormOptions options = {})
      : normalized_shape(normalized_shape),
        eps(options.eps),
        weight(options.elementwise_affine ? init::ones(normalized_shape) : Tensor()),
        bias(options.elementwise_affine && options.bias ? init::zeros(normalized_shape) : Tensor()) {}

  Tensor forward(const Tensor& x) const { return layer_norm(x, normalized_shape, weight, bias, eps); }

  void visit(Visitor& v) override {
    v("weight", weight);
    v("bias", bias);
  }

  Shape normalized_shape;  ///< what x ends in
  double eps;              ///< keeps the root away from 0
  Parameter weight, bias;  ///< [normalized_shape]
};

/// Choices of RMSNorm.
struct RMSNormOptions {
  std::optional<double> eps = {};  ///< without: the distance of 1 to the next number of the dtype of x
  bool elementwise_affine = true;  ///< learn the weight
};

/// y = x / sqrt(mean(x^2) + eps) * weight, the mean over the last dimensions (Zhang and Sennrich, 2019).
///
///   x          [..., normalized_shape]
///   returns    same shape
///
/// Start: weight one. State dict: weight. Errors: x that does not end in normalized_shape.
struct RMSNorm : Layer<RMSNorm> {
  /// A size or sizes: what x ends in.
  explicit RMSNorm(const Dims& normalized_shape, RMSNormOptions options = {})
      : normalized_shape(normalized_shape),
        eps(options.eps),
        weight(options.elementwise_affine ? init::ones(normalized_shape) : Tensor()) {}

  Tensor forward(const Tensor& x) const {
    const double smallest = x.dtype() == float64 ? std::numeric_limits<double>::epsilon()
                                                 : double{std::numeric_limits<float>::epsilon()};
    return rms_norm(x, normalized_shape, weight, eps.value_or(smallest));
  }

  void visit(Visitor& v) override { v("weight", weight); }

  Shape normalized_shape;     ///< what x ends in
  std::optional<double> eps;  ///< keeps the root away from 0
  Parameter weight;           ///< [normalized_shape]
};

}  // namespace heed
