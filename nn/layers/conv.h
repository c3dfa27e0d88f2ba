#pragma once

#include "autograd/ops/conv.h"
#include "nn/init.h"
#include "nn/module.h"

/// Convolutions.
namespace heed {

/// Options of Conv1d and Conv2d. Lists have one number for each dimension, or one for all.
struct ConvLayerOptions {
  Dims stride = 1;
  Padding padding = 0;  ///< Zeros on each side, or "same".
  Dims dilation = 1;
  int64_t groups = 1;  ///< Groups of channels that are kept apart; it divides both numbers of channels.
  bool bias = true;
};

/// Options of ConvTranspose1d and ConvTranspose2d.
struct ConvTransposeLayerOptions {
  Dims stride = 1, padding = 0;
  Dims output_padding = 0;  ///< Added to the size of the result.
  int64_t groups = 1;
  bool bias = true;
  Dims dilation = 1;
};

/// Weight and bias of a convolution of `dims` dimensions.
template <class Self, int64_t dims>
class ConvLayer : public Layer<Self> {
 public:
  void visit(Visitor& v) override {
    v("weight", weight);
    v("bias", bias);
  }

  Parameter
      weight;  ///< [out, in / groups, kernel size...]; of a transposed convolution [in, out / groups, ...]
  Parameter bias;  ///< [out], undefined without bias

 protected:
  ConvLayer(const char* name, int64_t first, int64_t second, const Dims& kernel, int64_t groups,
            int64_t out_channels, bool has_bias) {
    check_in(name, groups > 0 && first % groups == 0 && second % groups == 0, "groups is ", groups, ", and ",
             first, " and ", second, " are the numbers of channels; it must divide both");
    check_in(name, kernel.dim() == 1 || kernel.dim() == dims, "the kernel size is ", kernel,
             "; give one number, or one for each of ", dims, " dimensions");
    Shape shape{first, second / groups};
    for (int64_t d = 0; d < dims; ++d) shape.push_back(kernel[kernel.dim() == 1 ? 0 : d]);
    const int64_t fan_in = init::fans(shape).in;
    weight = init::uniform_fan_in(fan_in, shape);
    if (has_bias) bias = init::uniform_fan_in(fan_in, {out_channels});
  }
};

/// y = the sums of products of the windows of x with the filters of the weight, plus a bias: see conv2d.
///
///   x          [N, in_channels, H, W], or [in_channels, H, W]
///   returns    [N, out_channels, H', W']
///
/// Start: uniform in [-1 / sqrt(fan), 1 / sqrt(fan)), fan = in_channels / groups times the elements of a
/// window. State dict: weight, bias. Errors: those of conv2d; groups that do not divide the channels.
struct Conv2d : ConvLayer<Conv2d, 2> {
  Conv2d(int64_t in_channels, int64_t out_channels, const Dims& kernel_size, const ConvLayerOptions& o = {})
      : ConvLayer("Conv2d", out_channels, in_channels, kernel_size, o.groups, out_channels, o.bias),
        options{o.stride, o.padding, o.dilation, o.groups} {}
  Tensor forward(const Tensor& x) const { return conv2d(x, weight, bias, options); }

  ConvOptions options;
};

/// Conv2d for x [N, in_channels, T] or [in_channels, T].
struct Conv1d : ConvLayer<Conv1d, 1> {
  Conv1d(int64_t in_channels, int64_t out_channels, const Dims& kernel_size, const ConvLayerOptions& o = {})
      : ConvLayer("Conv1d", out_channels, in_channels, kernel_size, o.groups, out_channels, o.bias),
        options{o.stride, o.padding, o.dilation, o.groups} {}
  Tensor forward(const Tensor& x) const { return conv1d(x, weight, bias, options); }

  ConvOptions options;
};

/// The transpose of a convolution, which enlarges images: see conv_transpose2d.
///
///   x          [N, in_channels, H, W], or [in_channels, H, W]
///   returns    [N, out_channels, H', W']
///
/// Start: uniform in [-1 / sqrt(fan), 1 / sqrt(fan)), fan = out_channels / groups times the elements of a
/// window. State dict: weight, bias. Errors: those of conv_transpose2d; groups that do not divide the
/// channels.
struct ConvTranspose2d : ConvLayer<ConvTranspose2d, 2> {
  ConvTranspose2d(int64_t in_channels, int64_t out_channels, const Dims& kernel_size,
                  const ConvTransposeLayerOptions& o = {})
      : ConvLayer("ConvTranspose2d", in_channels, out_channels, kernel_size, o.groups, out_channels, o.bias),
        options{o.stride, o.padding, o.output_padding, o.groups, o.dilation} {}
  Tensor forward(const Tensor& x) const { return conv_transpose2d(x, weight, bias, options); }

  ConvTransposeOptions options;
};

/// ConvTranspose2d for x [N, in_channels, T] or [in_channels, T].
struct ConvTranspose1d : ConvLayer<ConvTranspose1d, 1> {
  ConvTranspose1d(int64_t in_channels, int64_t out_channels, const Dims& kernel_size,
                  const ConvTransposeLayerOptions& o = {})
      : ConvLayer("ConvTranspose1d", in_channels, out_channels, kernel_size, o.groups, out_channels, o.bias),
        options{o.stride, o.padding, o.output_padding, o.groups, o.dilation} {}
  Tensor forward(const Tensor& x) const { return conv_transpose1d(x, weight, bias, options); }

  ConvTransposeOptions options;
};

}  // namespace heed
