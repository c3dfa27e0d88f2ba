#pragma once

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

/// y_no(ab) = bias_o + sum_cij weight_oc(ij) x_nc(element ij of window ab). Here, and in the others:
///
///   x        [N, C, h.in, w.in]
///   weight   [O, C / groups, h.size, w.size]    o reads the channels of its group
///   y        [N, O, h.windows, w.windows]
///   bias     [O], of conv_transpose2d [C]; zero if undefined
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Windows& windows);
/// x_nc(element ij of window ab) = bias_c + the sum of weight_oc(ij) y_no(ab)
Tensor conv_transpose2d(const Tensor& y, const Tensor& weight, const Tensor& bias, const Windows& windows);
/// weight_oc(ij) = sum_nab x_nc(element ij of window ab) y_no(ab)
Tensor conv2d_weight(const Tensor& x, const Tensor& y, const Windows& windows);

/// The windows of each image as columns: x [N, C, h.in, w.in] -> [N, C size, count].
Tensor unfold(const Tensor& x, const Windows& windows);
/// The images in which the elements of windows are added: [N, C size, count] -> [N, C, h.in, w.in].
Tensor fold(const Tensor& columns, const Windows& windows);

}  // namespace heed::kernel
