#pragma once

#include <vector>

#include "autograd/operand.h"
#include "tensor/tensor.h"

namespace program {

/// Gaussian kernel regression on numbers, each point predicted from all the others: the score by which a
/// kernel's width is chosen.
///
///   loss(w) = 1/n sum_i (y_i - sum_{j != i} a_ij y_j)^2,   a_i = softmax_j(-((x_i - x_j) w)^2 / 2)
///
/// The same as NadarayaWatson with OwnPoint::exclude followed by mse_loss, to rounding, but on sorted data
/// with memory linear in n and time about n log n: for many rows, where an n x n matrix of weights is too
/// much. w = 0 is the plain mean of the others; as w grows, the prediction tends to the nearest others.
class LeaveOneOut {
 public:
  /// Two lists of n finite numbers, n at least 2, in any order.
  LeaveOneOut(const std::vector<double>& x, const std::vector<double>& y);

  /// The loss at w (a scalar tensor) with its derivative; a derivative of that is refused.
  heed::Tensor loss(heed::Operand w) const;

  struct Score {
    double loss;      // as above
    double slope;     // d loss / d w
    double training;  // the same loss with each point among its own keys: tends to 0 as w grows
  };
  Score score(double w) const;

  struct Predictions {
    std::vector<double> without;  // of each point from the others
    std::vector<double> with;     // of each point from all, itself included
  };
  /// In the order in which the points were given.
  Predictions predictions(double w) const;
  /// At other places, from all points.
  std::vector<double> predict(const std::vector<double>& queries, double w) const;

  /// Below `flat` every kernel value is 1 to rounding; above `nearest` all but the nearest others are 0 to
  /// rounding. Between them lies all that the loss does.
  struct Bounds {
    double flat;
    double nearest;
  };
  Bounds bounds() const;

 private:
  struct Sweep;
  Sweep sweep(double w) const;

  std::vector<double> x_, y_;   // sorted by x; y less its mean
  std::vector<int64_t> order_;  // position in the given lists
  double mean_ = 0;
};

}  // namespace program
