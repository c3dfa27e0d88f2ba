#pragma once

#include <optional>

#include "autograd/dims.h"
#include "autograd/operand.h"

/// Pooling: one number for each window of a channel. Lists such as the stride have one number for each
/// dimension of an image, or one for all.
namespace heed {

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

}  // namespace heed
