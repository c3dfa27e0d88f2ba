#pragma once

#include "nn/attention/mask.h"
#include "nn/module.h"

/// Kernel regression: attention whose weights come from a kernel.
namespace heed {

/// The weight K(u) of a key before normalization. u is its distance from the query in units of the kernel's
/// width.
enum class SmoothingKernel {
  gaussian,      ///< exp(-u^2 / 2)
  boxcar,        ///< 1 where u < 1, else 0
  epanechnikov,  ///< max(0, 1 - u^2)
  triangular,    ///< max(0, 1 - u)
  constant,      ///< 1: average pooling
};

/// "gaussian", "boxcar", ...
const char* name_of(SmoothingKernel kernel);
/// name_of() as a string.
inline std::string to_string(SmoothingKernel kernel) { return name_of(kernel); }

/// K(u) for each u^2: the shape of squared_distance.
Tensor kernel_value(SmoothingKernel kernel, Operand squared_distance);

/// The attention weights of kernel regression, K(|q_i - k_j| w) / sum_j K(|q_i - k_j| w).
///
///   mask     which queries may use which keys
///   returns  [..., Tq, Tk]   each row sums to 1, or to 0
///
/// If all keys are masked or too far for the kernel, the weights of a query are 0, with gradient 0. The
/// Gaussian kernel is computed as softmax(-((q - k) w)^2 / 2), so that the weights of distant keys do not all
/// underflow: the nearest key has the largest weight at any distance whose square is finite.
Tensor kernel_weights(Operand queries, Operand keys, SmoothingKernel kernel = SmoothingKernel::gaussian,
                      Operand w = 1, const Mask& mask = {});

/// Whether a point is one of the keys of its own prediction.
enum class OwnPoint { keep, exclude };

/// Options of NadarayaWatson.
struct NadarayaWatsonOptions {
  SmoothingKernel kernel = SmoothingKernel::gaussian;  ///< K
  double w = 1;                                        ///< 1/w is the kernel's width.
  bool learn = false;                                  ///< Whether w is a parameter.
  DType dtype = float32;                               ///< Of w.
};

/// Kernel regression (Nadaraya 1964, Watson 1964): f(q) = sum_i K(|q - k_i| w) v_i / sum_j K(|q - k_j| w).
/// There is no training on the data: each call receives them as keys and values.
///
///   queries  [Tq] or [..., Tq, d]
///   keys     [Tk] or [..., Tk, d]
///   values   [Tk] or [..., Tk, dv]
///   returns  [..., Tq] or [..., Tq, dv]
///
/// To learn w, predict the keys themselves with OwnPoint::exclude: the training loss is then leave-one-out
/// cross-validation. With OwnPoint::keep each point predicts itself best, so w grows without bound.
///
/// Start: w as in the options. State dict: w. Errors: learning the w of a boxcar or constant kernel, whose
/// derivative with respect to w is 0; OwnPoint::exclude with queries and keys of different shapes.
struct NadarayaWatson : Layer<NadarayaWatson> {
  explicit NadarayaWatson(const NadarayaWatsonOptions& options = {});

  Tensor forward(const Tensor& queries, const Tensor& keys, const Tensor& values,
                 OwnPoint own = OwnPoint::keep) const;
  /// The attention weights that forward computes, [..., Tq, Tk].
  Tensor weights(const Tensor& queries, const Tensor& keys, OwnPoint own = OwnPoint::keep) const;
  void visit(Visitor& v) override { v("w", w, "w", fixed_w); }  // only one of them is defined

  SmoothingKernel kernel;  ///< K
  Parameter w;             ///< [1], undefined if w is fixed
  Buffer fixed_w;          ///< [1], undefined if w is learned; also "w" in the state dict
};

}  // namespace heed
