#pragma once

#include "autograd/ops/conv.h"
#include "nn/module.h"

/// Pooling of images [N, C, H, W] or [C, H, W] and of signals [N, C, T] or [C, T] as layers.
namespace heed {

/// A pooling function with its options as a layer.
template <class Self, class PoolOptions, Tensor (*pool)(Operand, const Dims&, const PoolOptions&)>
struct PoolLayer : Layer<Self> {
  explicit PoolLayer(const Dims& size, const PoolOptions& o = {}) : kernel_size(size), options(o) {}
  Tensor forward(const Tensor& x) const { return pool(x, kernel_size, options); }

  Dims kernel_size;
  PoolOptions options;
};

/// y = the largest element of each window, see max_pool2d: MaxPool2d(2) halves height and width.
struct MaxPool2d : PoolLayer<MaxPool2d, MaxPoolOptions, max_pool2d> {
  using PoolLayer::PoolLayer;
};
/// y = the largest element of each window, see max_pool1d
struct MaxPool1d : PoolLayer<MaxPool1d, MaxPoolOptions, max_pool1d> {
  using PoolLayer::PoolLayer;
};
/// y = the mean of each window, see avg_pool2d
struct AvgPool2d : PoolLayer<AvgPool2d, AvgPoolOptions, avg_pool2d> {
  using PoolLayer::PoolLayer;
};
/// y = the mean of each window, see avg_pool1d
struct AvgPool1d : PoolLayer<AvgPool1d, AvgPoolOptions, avg_pool1d> {
  using PoolLayer::PoolLayer;
};

}  // namespace heed
