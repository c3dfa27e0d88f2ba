#pragma once

#include "nn/attention/mask.h"
#include "nn/module.h"

/// Kernel regression: attention whose weights are those of a kernel.
namespace heed {

/// The part that a key has in the answer, given its distance u from the query in units of the kernel's width.
enum class SmoothingKernel {
  gaussian,      ///< exp(-u^2 / 2)
  boxcar,        ///< 1 where u < 1, else 0
  epanechnikov,  ///< max(0, 1 - u^2)
  triangular,    ///< max(0, 1 - u)
  constant,      ///< 1: every key counts the same, which is average pooling
};

/// "gaussian", "boxcar", ...
const char* name_of(SmoothingKernel kernel);
/// name_of as a string.
inline std::string to_string(SmoothingKernel kernel) { return name_of(kernel); }

/// K(u), given the squares u^2, element by element: the shape of squared_distance.
Tensor kernel_value(SmoothingKernel kernel, Operand squared_distance);

/// The squares of |q_i - k_j| w, [..., Tq, Tk]. Queries and keys are numbers, [Tq] and [Tk], or vectors of
/// one width, [..., Tq, d] and [..., Tk, d]; w is one number and 1/w the kernel's width. Errors: other
/// shapes.
Tensor squared_distances(Operand queries, Operand keys, Operand w);

/// The attention weights of kernel regression: K(|q_i - k_j| w) over its sum over the keys.
///
///   mask     which queries may use which keys
///   returns  [..., Tq, Tk], rows that sum to 1
///
/// A query without support, because all keys are out of the kernel's reach or masked, has the weights 0 and
/// the gradient 0. The Gaussian kernel's weights are softmax(-((q - k) w)^2 / 2), so that far keys do not
/// underflow: the nearest counts most however far it is, until the square of its distance is infinite.
Tensor kernel_weights(Operand queries, Operand keys, SmoothingKernel kernel = SmoothingKernel::gaussian,
                      Operand w = 1, const Mask& mask = {});

/// Whether a point that is predicted is among its own keys.
enum class OwnPoint { keep, exclude };

/// Choices of NadarayaWatson.
struct NadarayaWatsonOptions {
  SmoothingKernel kernel = SmoothingKernel::gaussian;  ///< K
  double w = 1;                                        ///< 1/w is the kernel's width
  bool learn = false;                                  ///< w is a parameter; otherwise there is none
  DType dtype = float32;                               ///< of w
};

/// Kernel regression (Nadaraya 1964, Watson 1964): f(q) = sum_i K(|q - k_i| w) v_i / sum_j K(|q - k_j| w).
/// The data are the model: keys and values are given with every call.
///
///   queries  [Tq] or [..., Tq, d]
///   keys     [Tk] or [..., Tk, d]
///   values   [Tk] or [..., Tk, dv]
///   returns  [..., Tq] or [..., Tq, dv]
///
/// To learn w, predict the keys themselves with OwnPoint::exclude. Kept, each would be predicted best by
/// itself alone, as w grows without bound; excluded, the training loss is leave-one-out cross-validation.
///
/// Start: w as the options say. State dict: w. Errors: learning the w of a kernel that has no slope in it,
/// boxcar or constant; OwnPoint::exclude where queries and keys differ in shape.
struct NadarayaWatson : Layer<NadarayaWatson> {
  /// Gaussian, of width 1 and fixed, unless the options say otherwise.
  explicit NadarayaWatson(const NadarayaWatsonOptions& options = {});

  /// f at the queries.
  Tensor forward(const Tensor& queries, const Tensor& keys, const Tensor& values,
                 OwnPoint own = OwnPoint::keep) const;
  /// The attention weights behind forward, [..., Tq, Tk].
  Tensor weights(const Tensor& queries, const Tensor& keys, OwnPoint own = OwnPoint::keep) const;
  void visit(Visitor& v) override {  // there is only one
    v("w", w);
    v("w", fixed_w);
  }

  SmoothingKernel kernel;  ///< K
  Parameter w;             ///< [1], absent when fixed
  Buffer fixed_w;          ///< [1], absent when learned; "w" in the state dict all the same
};

}  // namespace heed
