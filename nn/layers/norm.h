#pragma once

#include <limits>

#include "autograd/dims.h"
#include "autograd/ops/norm.h"
#include "nn/init.h"
#include "nn/module.h"

/// Normalization over the last dimensions, and over groups of channels.
namespace heed {

/// Options of LayerNorm.
struct LayerNormOptions {
  double eps = 1e-5;
  bool elementwise_affine = true;  ///< Learn weight and bias.
  bool bias = true;                ///< If elementwise_affine: learn the bias too.
};

/// y = (x - mean) / sqrt(var + eps) * weight + bias, with mean and variance over the last dimensions (Ba,
/// Kiros and Hinton, 2016).
///
///   x          [..., normalized_shape], such as LayerNorm(64) or LayerNorm({8, 64})
///   returns    same shape
///
/// Start: weight one, bias zero. State dict: weight, bias. Errors: x that does not end in normalized_shape.
struct LayerNorm : Layer<LayerNorm> {
  explicit LayerNorm(const Dims& shape, LayerNormOptions options = {})
      : normalized_shape(shape),
        eps(options.eps),
        weight(options.elementwise_affine ? init::ones(shape) : Tensor()),
        bias(options.elementwise_affine && options.bias ? init::zeros(shape) : Tensor()) {}

  Tensor forward(const Tensor& x) const { return layer_norm(x, normalized_shape, weight, bias, eps); }

  void visit(Visitor& v) override { v("weight", weight, "bias", bias); }

  Shape normalized_shape;
  double eps;
  Parameter weight, bias;  ///< [normalized_shape]; undefined unless learned
};

/// Options of RMSNorm.
struct RMSNormOptions {
  std::optional<double> eps = {};  ///< By default the machine epsilon of the dtype of x.
  bool elementwise_affine = true;  ///< Learn the weight.
};

/// y = x / sqrt(mean(x^2) + eps) * weight, with the mean over the last dimensions (Zhang and Sennrich, 2019).
///
///   x          [..., normalized_shape]
///   returns    same shape
///
/// Start: weight one. State dict: weight. Errors: x that does not end in normalized_shape.
struct RMSNorm : Layer<RMSNorm> {
  explicit RMSNorm(const Dims& shape, RMSNormOptions options = {})
      : normalized_shape(shape),
        eps(options.eps),
        weight(options.elementwise_affine ? init::ones(shape) : Tensor()) {}

  Tensor forward(const Tensor& x) const {
    const double epsilon = x.dtype() == float64 ? std::numeric_limits<double>::epsilon()
                                                : double{std::numeric_limits<float>::epsilon()};
    return rms_norm(x, normalized_shape, weight, eps.value_or(epsilon));
  }

  void visit(Visitor& v) override { v("weight", weight); }

  Shape normalized_shape;
  std::optional<double> eps;
  Parameter weight;  ///< [normalized_shape]; undefined unless learned
};

/// Options of GroupNorm.
struct GroupNormOptions {
  double eps = 1e-5;
  bool affine = true;  ///< Learn weight and bias.
};

/// y = (x - mean) / sqrt(var + eps) * weight + bias, with mean and variance over each group of channels of an
/// example (Wu and He, 2018).
///
///   x          [N, C, ...]; num_groups divides C = num_channels
///   returns    same shape
///
/// Start: weight one, bias zero. State dict: weight, bias. Errors: x with another number of channels.
struct GroupNorm : Layer<GroupNorm> {
  GroupNorm(int64_t groups, int64_t num_channels, GroupNormOptions options = {})
      : num_groups(groups),
        eps(options.eps),
        weight(options.affine ? init::ones({num_channels}) : Tensor()),
        bias(options.affine ? init::zeros({num_channels}) : Tensor()) {
    check_in("GroupNorm", groups > 0 && num_channels % groups == 0, "num_groups is ", groups,
             ", num_channels is ", num_channels, "; num_groups must divide it");
  }

  Tensor forward(const Tensor& x) const { return group_norm(x, num_groups, weight, bias, eps); }

  void visit(Visitor& v) override { v("weight", weight, "bias", bias); }

  int64_t num_groups;
  double eps;
  Parameter weight, bias;  ///< [C]; undefined unless learned
};

}  // namespace heed
