#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "examples/kernel_regression/leave_one_out.h"
#include "examples/kernel_regression/pictures.h"
#include "examples/kernel_regression/search.h"
#include "examples/shared/program.h"

/// The tables that examples/kernel_regression prints and writes.
namespace program {

struct Data {
  Labels labels;
  Numbers x, y;            // sorted by x
  Numbers test_x, test_y;  // without noise; of the built-in data alone
};

/// The mean, a kernel of fixed width, the learned one, or where it started. They differ in w alone.
struct Model {
  std::string key, name;
  int parameters;
  double w;
  LeaveOneOut::Score score;
  double test_mse = 0;
};

/// The formula, what is done, and what to look for.
void print_task(std::ostream& text, const Data& data);
/// Parameters, training loss, leave-one-out loss, and test MSE where there is a test set.
void print_models(std::ostream& text, const Data& data, const std::vector<Model>& models);
/// The learned width beside the cross-validated one, and where the narrowest of kernels would end.
void print_width(std::ostream& text, const LeaveOneOut& points, const Search& search);
/// Every kernel at both widths. Where a kernel of bounded reach finds no key, it predicts 0.
void print_kernels(std::ostream& text, const Data& data, double learned_w);
/// One query against all keys: the weights, and how they mix the values.
void print_query(Program& self, const Data& data, const Numbers& weights, double query, double w,
                 double answer);
/// What learning has changed, in a sentence.
void print_gain(std::ostream& text, const Data& data, const Model& start, const Model& learned);
/// predictions.csv. The mean of (y - prediction)^2 over the data rows is the leave-one-out loss, over the
/// test rows the test MSE.
void write_predictions(Program& self, const Data& data, const LeaveOneOut& points,
                       const std::vector<Model>& models);

}  // namespace program
