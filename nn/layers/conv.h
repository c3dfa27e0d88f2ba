#pragma once

#include "autograd/ops/conv.h"
#include "nn/init.h"
#include "nn/module.h"

/// Convolutions.
namespace heed {

/// A convolution of images or signals: see conv2d, conv1d, conv_transpose2d and conv_transpose1d.
///
///   x          [N, in_channels, H, W], or [in_channels, H, W]; of signals [N, in_channels, T], or
///              [in_channels, T]
///   returns    [N, out_channels, H', W']
///
/// Start: uniform in [-1 / sqrt(fan), 1 / sqrt(fan)), where fan is the second size of the weight times the
/// elements of a window. State dict: weight, bias. Errors: those of the function; groups that do not divide
/// both numbers of channels.
template <class Self, Tensor (*function)(Operand, Operand, Operand, const ConvOptions&), int64_t dims,
          bool transposes = false>
struct ConvLayer : Layer<Self> {
  ConvLayer(int64_t in_channels, int64_t out_channels, const Dims& kernel_size, const ConvOptions& o = {})
      : options(o) {
    check_in("convolution", o.groups > 0 && in_channels % o.groups == 0 && out_channels % o.groups == 0,
             "groups is ", o.groups, ", for ", in_channels, " channels in and ", out_channels,
             " out; it must divide both");
    Shape shape{out_channels, in_channels / o.groups};
    if (transposes) shape = {in_channels, out_channels / o.groups};
    for (int64_t d = 0; d < dims; ++d)
      shape.push_back(detail::number_of("the kernel size", kernel_size, d, dims, 1));
    const int64_t fan = init::fans(shape).in;
    weight = init::uniform_fan_in(fan, shape);
    if (o.bias) bias = init::uniform_fan_in(fan, {out_channels});
  }

  Tensor forward(const Tensor& x) const { return function(x, weight, bias, options); }

  void visit(Visitor& v) override { v("weight", weight, "bias", bias); }

  ConvOptions options;
  Parameter weight;  ///< [out, in / groups, kernel size]; of a transposed one [in, out / groups, kernel size]
  Parameter bias;    ///< [out], undefined without bias
};

/// y = conv2d(x, weight, bias)
struct Conv2d : ConvLayer<Conv2d, conv2d, 2> {
  using ConvLayer::ConvLayer;
};
/// y = conv1d(x, weight, bias)
struct Conv1d : ConvLayer<Conv1d, conv1d, 1> {
  using ConvLayer::ConvLayer;
};
/// y = conv_transpose2d(x, weight, bias), which enlarges images where the stride is above 1.
struct ConvTranspose2d : ConvLayer<ConvTranspose2d, conv_transpose2d, 2, true> {
  using ConvLayer::ConvLayer;
};
/// y = conv_transpose1d(x, weight, bias)
struct ConvTranspose1d : ConvLayer<ConvTranspose1d, conv_transpose1d, 1, true> {
  using ConvLayer::ConvLayer;
};

}  // namespace heed
