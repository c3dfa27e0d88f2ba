#pragma once

#include "autograd/dims.h"
#include "autograd/operand.h"

/// Convolutions and pooling of signals and images, and the windows of images as columns. Lists such as the
/// stride have one number for each dimension of an image, or one for all.
namespace heed {

/// Zeros around an image: numbers, or "same" for a result of the image's size with stride 1, or "valid" for
/// none.
struct Padding : Dims {
  using Dims::Dims;
  /// "same" or "valid"; throws for others.
  Padding(const char* name);
  bool same = false;
};

/// Options of convolutions, unfold and fold. A list has one number for each dimension of an image, or one for
/// all.
struct ConvOptions {
  Dims stride = 1;          ///< Distance of windows.
  Padding padding = 0;      ///< Zeros on each side.
  Dims dilation = 1;        ///< Distance of the elements of a window.
  int64_t groups = 1;       ///< Groups of channels that are kept apart.
  bool bias = true;         ///< Of a layer: learn a bias.
  Dims output_padding = 0;  ///< Of a transposed convolution: added to the size of the result.
};

/// The sum of the products of each window of x with each filter of the weight, plus a bias.
///
///   y[n, o, a, b] = bias[o] + sum_cij weight[o, c, i, j] x[n, c, a stride + i dilation - padding, ...]
///
///   x         [N, C, H, W], or [C, H, W]; in conv1d [N, C, T], or [C, T]
///   weight    [O, C / groups, kernel height, kernel width]; in conv1d [O, C / groups, kernel size]
///   bias      [O]
///   returns   [N, O, H', W'], H' = floor((H + 2 padding - dilation (kernel height - 1) - 1) / stride) + 1
///
/// Throws if the shapes do not fit, if a window is larger than the image with its padding, or if "same" is
/// combined with a stride.
Tensor conv2d(Operand x, Operand weight, Operand bias = {}, const ConvOptions& options = {});
/// conv2d of signals.
Tensor conv1d(Operand x, Operand weight, Operand bias = {}, const ConvOptions& options = {});
/// The transpose of conv2d: each element of x adds its multiple of the filter to a window of the result.
///
///   x         [N, C, H, W], or [C, H, W]; in conv_transpose1d [N, C, T], or [C, T]
///   weight    [C, O / groups, kernel height, kernel width]
///   bias      [O]
///   returns   [N, O, H', W'], H' = (H - 1) stride - 2 padding + dilation (kernel height - 1) + 1 +
///             output_padding
///
/// Throws if the shapes do not fit, if a size of the result is not positive, or if output_padding is neither
/// less than the stride nor less than the dilation.
Tensor conv_transpose2d(Operand x, Operand weight, Operand bias = {}, const ConvOptions& options = {});
/// conv_transpose2d of signals.
Tensor conv_transpose1d(Operand x, Operand weight, Operand bias = {}, const ConvOptions& options = {});

/// The windows of each image as columns, from left to right and from top to bottom. Row c k + i of a column
/// has element i of the k elements of a window in channel c.
///
///   x         [N, C, H, W], or [C, H, W]
///   returns   [N, C k, windows]
Tensor unfold(Operand x, const Dims& kernel_size, const ConvOptions& options = {});
/// The images in which the elements of all windows are added: the transpose of unfold. [N, C k, windows] ->
/// [N, C, H, W] with output_size [H, W]. Throws if that has another number of windows.
Tensor fold(Operand x, const Dims& output_size, const Dims& kernel_size, const ConvOptions& options = {});

/// Options of max_pool1d and max_pool2d.
struct MaxPoolOptions {
  Dims stride = {};  ///< By default the size of the window.
  Dims padding = 0;  ///< On each side, at most half of the window.
  Dims dilation = 1;
  bool ceil_mode = false;  ///< Windows may end outside of the image.
};
/// The largest element of each window. The gradient goes to the first one. NaN is the largest.
///
///   x         [N, C, H, W], or [C, H, W]; in max_pool1d [N, C, T], or [C, T]
///   returns   [N, C, H', W'], H' = floor((H + 2 padding - dilation (kernel height - 1) - 1) / stride) + 1;
///             with ceil_mode rounded up instead, without windows that begin outside
///
/// Throws if the window is larger than the image with its padding, or the padding larger than half of it.
Tensor max_pool2d(Operand x, const Dims& kernel_size, const MaxPoolOptions& options = {});
/// max_pool2d of signals.
Tensor max_pool1d(Operand x, const Dims& kernel_size, const MaxPoolOptions& options = {});

/// Options of avg_pool1d and avg_pool2d.
struct AvgPoolOptions {
  Dims stride = {};                              ///< By default the size of the window.
  Dims padding = 0;                              ///< On each side, at most half of the window.
  bool ceil_mode = false;                        ///< Windows may end outside of the image.
  bool count_include_pad = true;                 ///< The zeros of the padding count.
  std::optional<int64_t> divisor_override = {};  ///< Divides the sums instead of the number of elements.
};
/// The mean of each window. Shapes as in max_pool2d.
Tensor avg_pool2d(Operand x, const Dims& kernel_size, const AvgPoolOptions& options = {});
/// avg_pool2d of signals.
Tensor avg_pool1d(Operand x, const Dims& kernel_size, const AvgPoolOptions& options = {});

namespace detail {

/// The number of a list for dimension `axis` of `dims`. Throws if it is below `least`.
int64_t number_of(const char* name, const Dims& list, int64_t axis, int64_t dims, int64_t least);

}  // namespace detail

}  // namespace heed
