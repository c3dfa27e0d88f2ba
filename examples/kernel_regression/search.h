#pragma once

#include <string>
#include <vector>

#include "examples/kernel_regression/leave_one_out.h"

/// The search for the width of a Gaussian kernel, by examples/kernel_regression.
namespace program {

/// [n], float64.
heed::Tensor column(const std::vector<double>& values);

/// One gradient descent on w.
struct Descent {
  std::string from;                // what the start is
  double start = 0;                // the w there
  double w = 0, loss = 0;          // the best it found
  std::vector<double> ws, losses;  // the best so far, step by step
};

struct Search {
  std::vector<double> grid, loss, training;  // the leave-one-out and the training loss of every w tried
  double grid_w = 0, grid_loss = 0;          // the best of these
  std::vector<Descent> descents;             // the first from a kernel as wide as the data
  double w = 0;                              // the best of all
};

/// Minimises the leave-one-out loss over w > 0. There may be several minima, and the least may be at either
/// end, where the kernel is flat or only the nearest neighbour counts. So the score on a grid between the two
/// comes first, and gradient descent starts from its deepest valleys as well as from rules of thumb.
Search search_width(const std::vector<double>& x, const std::vector<double>& y, const LeaveOneOut& points);

}  // namespace program
