#pragma once

#include "autograd/ops/in_place.h"
#include "autograd/ops/norm.h"
#include "nn/init.h"
#include "nn/module.h"

/// Normalization of channels over a batch.
namespace heed {

/// Options of BatchNorm1d and BatchNorm2d.
struct BatchNormOptions {
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;  ///< Share of the new batch; undefined means the mean of all batches.
  bool affine = true;                    ///< Learn weight and bias.
  bool track_running_stats = true;       ///< Otherwise evaluation uses the batch, too.
};

/// BatchNorm1d or BatchNorm2d, for x of `least` to `most` dimensions:
/// y = (x - mean) / sqrt(var + eps) * weight + bias for each channel (Ioffe and Szegedy, 2015).
///
///   x          [N, C, H, W]; of BatchNorm1d [N, C] or [N, C, T]
///   returns    same shape
///
/// In training, mean and variance are those of the channel in the batch, and running <- (1 - momentum)
/// running + momentum new, with the unbiased variance. In evaluation they are the running ones.
///
/// Start: weight one, bias zero, running_mean zero, running_var one. State dict: weight, bias, running_mean,
/// running_var, num_batches_tracked. Errors: x of another rank or number of channels; training with one value
/// in each channel.
template <class Self, int64_t least, int64_t most>
struct BatchNormLayer : Layer<Self> {
  explicit BatchNormLayer(int64_t num_features, const BatchNormOptions& options = {})
      : eps(options.eps), momentum(options.momentum) {
    if (options.affine) weight = init::ones({num_features}), bias = init::zeros({num_features});
    if (!options.track_running_stats) return;
    running_mean = init::zeros({num_features});
    running_var = init::ones({num_features});
    num_batches_tracked = zeros({}, int64);
  }

  Tensor forward(const Tensor& x) const {
    check(x.dim() >= least && x.dim() <= most, "x is ", x.shape(), "; it must have ", most, " dimensions",
          least < most ? ", or 2" : "");
    const bool tracks = running_mean.defined() && this->training();
    const double share = tracks && !momentum ? 1 / (num_batches_tracked.item() + 1) : momentum.value_or(0);
    Tensor y = batch_norm(x, running_mean, running_var, weight, bias,
                          this->training() || !running_mean.defined(), share, eps);
    const NoGrad guard;
    if (tracks) add_(num_batches_tracked, 1);
    return y;
  }

  void visit(Visitor& v) override {
    v("weight", weight, "bias", bias, "running_mean", running_mean, "running_var", running_var,
      "num_batches_tracked", num_batches_tracked);
  }

  double eps;
  std::optional<double> momentum;
  Parameter weight, bias;            ///< [C]; undefined unless learned
  Buffer running_mean, running_var;  ///< [C]; undefined unless tracked
  Buffer num_batches_tracked;        ///< [] int64; undefined unless tracked
};

/// BatchNormLayer for [N, C] and [N, C, T].
struct BatchNorm1d : BatchNormLayer<BatchNorm1d, 2, 3> {
  using BatchNormLayer::BatchNormLayer;
};
/// BatchNormLayer for [N, C, H, W].
struct BatchNorm2d : BatchNormLayer<BatchNorm2d, 4, 4> {
  using BatchNormLayer::BatchNormLayer;
};

}  // namespace heed
