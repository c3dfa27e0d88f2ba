#pragma once

#include <array>

#include "tensor/tensor.h"

/// Convolutions of images, and the windows of images as columns. Operands have one floating dtype and any
/// strides; results are new and contiguous.
namespace heed::kernel {

/// One dimension of an image and the windows along it. Element i of window j lies at position
/// j stride + i dilation - padding; outside of [0, in) the image is 0.
struct WindowAxis {
  int64_t in = 1, windows = 1, size = 1, stride = 1, padding = 0, dilation = 1;
  /// The positions from the first element of the first window to the last one of the last window.
  int64_t span() const { return (windows - 1) * stride + (size - 1) * dilation + 1; }
};

/// The windows of images [h.in, w.in], and the groups of channels that a convolution keeps apart.
struct Windows {
  WindowAxis h, w;
  int64_t groups = 1;

  int64_t size() const { return h.size * w.size; }         ///< Elements of a window.
  int64_t count() const { return h.windows * w.windows; }  ///< Windows of an image.
};

/// x, weight and y of a convolution. Each is computed from the other two:
///
///   y_no(ab) = sum_cij weight_oc(ij) x_nc(element ij of window ab)
///   x_nc(element ij of window ab) += weight_oc(ij) y_no(ab)        the transposed convolution
///   weight_oc(ij) = sum_nab x_nc(element ij of window ab) y_no(ab)
///
///   x        [N, C, h.in, w.in]
///   weight   [O, C / groups, h.size, w.size]    o reads the channels of its group
///   y        [N, O, h.windows, w.windows]
using ConvParts = std::array<Tensor, 3>;

/// The part that is undefined, plus a bias for each of its channels, which is 0 if undefined.
Tensor convolution(const ConvParts& parts, const Tensor& bias, const Windows& windows);

/// The windows of each image as columns: x [N, C, h.in, w.in] -> [N, C size, count].
Tensor unfold(const Tensor& x, const Windows& windows);
/// The images in which the elements of windows are added: [N, C size, count] -> [N, C, h.in, w.in].
Tensor fold(const Tensor& columns, const Windows& windows);

}  // namespace heed::kernel
