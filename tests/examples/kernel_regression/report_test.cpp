#include "examples/kernel_regression/report.h"
#include <sstream>

#include "tests/support/expect.h"

using namespace program;

const Data data{{"title", "x", "y"}, {0, 1, 2, 3, 4, 5}, {0, 2, 1, 3, 2, 4}, {}, {}};

TEST_CASE("print_models: a row for each model; the test MSE if there is a test set") {
  const program::LeaveOneOut points(data.x, data.y);
  const std::vector<Model> models = {{"fixed", "fixed kernel", 0, 1, points.score(1), 0.25}};
  std::ostringstream without, with;
  print_models(without, data, models);
  CHECK(!contains(without.str(), "test MSE"));
  CHECK(contains(without.str(), short_number(points.score(1).loss)));
  Data tested = data;
  tested.test_x = tested.test_y = {1};
  print_models(with, tested, models);
  CHECK(contains(with.str(), "test MSE"));
  CHECK(contains(with.str(), "0.25"));
}

// covers: C-000-06
TEST_CASE("print_kernels: losses of a boxcar by hand, and the number of points without a key") {
  std::ostringstream text;
  print_kernels(text, data, 2);
  // Neither w = 1 nor w = 2 reaches a neighbor at distance 1: the prediction is 0, the loss the mean of y^2.
  CHECK(contains(text.str(), "boxcar                        5.667 (6)                  5.667 (6)"));
  std::ostringstream wide;
  print_kernels(wide, data, 0.6);
  // The end points have one neighbor: errors 2 and 2. The others have two: errors 1.5.
  CHECK(contains(wide.str(), "boxcar                        5.667 (6)                  2.833 (0)"));
}

TEST_CASE("print_width reports a minimum at the end of the range") {
  std::ostringstream flat, narrow;
  const program::LeaveOneOut zigzag({1, 2, 3, 4}, {1, -1, 1, -1});
  print_width(flat, zigzag, search_width({1, 2, 3, 4}, {1, -1, 1, -1}, zigzag));
  CHECK(contains(flat.str(), "No kernel predicts better than the mean"));
  const program::LeaveOneOut pairs({0, 1, 10, 12}, {5, 5, -3, -3});
  Search at_end;
  at_end.w = at_end.grid_w = pairs.bounds().nearest;
  print_width(narrow, pairs, at_end);
  CHECK(contains(narrow.str(), "only the nearest neighbour counts"));
}
