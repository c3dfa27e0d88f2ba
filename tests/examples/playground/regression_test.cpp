#include "examples/playground/regression.h"

#include "nn/attention/kernel_regression.h"
#include "tests/support/expect.h"

using namespace program;

namespace {

// The parts of an answer for n points, `count` places and `w_count` w.
struct Regression {
  double answer, loss, gradient;
  Values weights, curve, kept, left_out;
};

constexpr int kPlaces = 3, kWidths = 4;
const std::vector<float> xs = {0, 1, 2, 4}, ys = {1, 3, 2, 5};

Regression regress(double w, SmoothingKernel kernel, bool own, double query) {
  std::vector<float> request = {static_cast<float>(w),
                                static_cast<float>(kernel),
                                static_cast<float>(own),
                                static_cast<float>(query),
                                0,
                                4,
                                kPlaces,
                                0.125F,
                                1,
                                kWidths,
                                4};
  request.insert(request.end(), xs.begin(), xs.end());
  request.insert(request.end(), ys.begin(), ys.end());
  const std::vector<float> answer = regression(request);
  REQUIRE(answer.size() == 3 + xs.size() + kPlaces + 2 * kWidths);
  auto next = answer.begin() + 3;
  const auto take = [&](std::ptrdiff_t count) {
    next += count;
    return Values(next - count, next);
  };
  return {answer[0], answer[1], answer[2], take(4), take(kPlaces), take(kWidths), take(kWidths)};
}

double loss_at(double w, SmoothingKernel kernel, bool own) { return regress(w, kernel, own, 0).loss; }

}  // namespace

TEST_CASE("playground regression: w = 0 gives the mean, a large w the nearest neighbor") {
  const Regression flat = regress(0, SmoothingKernel::gaussian, true, 1.2);
  CHECK(flat.answer == 2.75);
  CHECK(flat.weights == Values{0.25, 0.25, 0.25, 0.25});
  CHECK(flat.curve == Values{2.75, 2.75, 2.75});
  CHECK(flat.gradient == 0);
  const Regression narrow = regress(100, SmoothingKernel::gaussian, true, 1.2);
  CHECK(narrow.answer == 3);
  CHECK(narrow.weights == Values{0, 1, 0, 0});
  CHECK(narrow.curve == Values{1, 2, 5});
  CHECK(narrow.loss == 0);  // each point is its own nearest neighbor
  CHECK(regress(100, SmoothingKernel::gaussian, false, 1.2).loss > 1);
}

TEST_CASE("playground regression: losses on the grid, and the gradient as a difference") {
  for (const auto kernel :
       {SmoothingKernel::gaussian, SmoothingKernel::epanechnikov, SmoothingKernel::triangular})
    for (const bool own : {true, false}) {
      CAPTURE(kernel);
      CAPTURE(own);
      const Regression here = regress(0.25, kernel, own, 0);
      CHECK(largest_difference({(own ? here.kept : here.left_out)[1]}, {here.loss}) < 1e-6);
      const double difference = (loss_at(0.301, kernel, own) - loss_at(0.299, kernel, own)) / 0.002;
      CHECK(regress(0.3, kernel, own, 0).gradient == doctest::Approx(difference).epsilon(2e-3));
    }
  CHECK(regress(0.3, SmoothingKernel::boxcar, false, 0).gradient == 0);
}

TEST_CASE("playground regression: descent lowers the loss, step by step as the gradient says") {
  std::vector<float> request = {0.25F, 0, 0, 0.01F, 5, 4};
  request.insert(request.end(), xs.begin(), xs.end());
  request.insert(request.end(), ys.begin(), ys.end());
  const std::vector<float> path = regression_learn(request);
  REQUIRE(path.size() == 12);
  const Regression start = regress(0.25, SmoothingKernel::gaussian, false, 0);
  CHECK(path[1] == doctest::Approx(start.loss));
  CHECK(path[2] == doctest::Approx(0.25 - 0.01 * start.gradient));
  for (size_t step = 1; step < 6; ++step) CHECK(path[2 * step + 1] < path[2 * step - 1]);
}

TEST_CASE("playground regression: the first request has the points of kernel_regression") {
  const std::vector<float> request = regression_first(), answer = regression(request);
  CHECK(request[10] == 50);
  CHECK(answer[1] == doctest::Approx(0.27).epsilon(0.3));
  CHECK_THROWS_WITH(regression(std::vector<float>{1, 9}),
                    "regression: kernel is 9; it must be an integer from 0 to 4");
}
