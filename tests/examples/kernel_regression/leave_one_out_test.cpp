#include "examples/kernel_regression/leave_one_out.h"

#include <limits>

#include "nn/attention/kernel_regression.h"
#include "tests/support/references.h"

using program::LeaveOneOut;

namespace {

struct Sample {
  Values x, y;
};

// A dense cluster, ties, an even grid and an outlier, which cover every path of the sweep.
Sample hard_data(size_t n, uint64_t seed, double scale = 1) {
  Generator random(seed);
  Sample data;
  for (size_t i = 0; i < n; ++i) {
    const double u = random.uniform();
    const double x = i % 3 == 0 ? 5 * u : i % 3 == 1 ? 2 + 0.01 * u : std::round(100 * u) / 20;
    data.x.push_back(scale * (i == 0 ? 300 : x));
    data.y.push_back(10 + 2 * std::sin(3 * x) + random.uniform());
  }
  return data;
}

// The definition, in long double.
LeaveOneOut::Score by_definition(const Sample& data, double w) {
  using Real = long double;
  const size_t n = data.x.size();
  Real loss = 0, slope = 0, training = 0;
  for (size_t i = 0; i < n; ++i) {
    Real nearest = std::numeric_limits<Real>::infinity();
    for (size_t j = 0; j < n; ++j)
      if (j != i) nearest = std::min(nearest, std::abs(Real(data.x[i]) - Real(data.x[j])));
    Real k = 0, ky = 0, dk = 0, dky = 0;
    for (size_t j = 0; j < n; ++j) {
      if (j == i) continue;
      const Real d = Real(data.x[i]) - Real(data.x[j]);
      const Real q = (d * d - nearest * nearest) * w * w;
      const Real value = std::exp(-q / 2);
      k += value;
      ky += value * data.y[j];
      dk -= q * value;
      dky -= q * value * data.y[j];
    }
    const Real error = ky / k - data.y[i];
    loss += error * error;
    slope += 2 * error * (dky - ky / k * dk) / k;
    const Real scale = std::exp(-nearest * nearest * w * w / 2);
    const Real with = (ky * scale + data.y[i]) / (k * scale + 1) - data.y[i];
    training += with * with;
  }
  const auto count = static_cast<Real>(n);
  return {double(loss / count), double(slope / count / w), double(training / count)};
}

}  // namespace

// covers: C-000-16
TEST_CASE("leave_one_out: loss, derivative and training loss equal their definitions for every w") {
  for (const double scale : {1.0, 1e-6, 1e9}) {
    const Sample data = hard_data(400, 11, scale);
    const LeaveOneOut points(data.x, data.y);
    for (double w = 1e-4; w < 1e7; w *= 3.7) {
      CAPTURE(w);
      const auto got = points.score(w / scale), want = by_definition(data, w / scale);
      REQUIRE(got.loss == doctest::Approx(want.loss).epsilon(1e-12));
      REQUIRE(std::abs(got.training - want.training) <= 1e-10 * want.training + 1e-14);
      REQUIRE(std::abs(got.slope - want.slope) <= 1e-8 * std::abs(want.slope) + 1e-10 / (w / scale));
      REQUIRE(points.score(-w / scale).loss == got.loss);
    }
  }
}

// covers: C-000-16 C-000-11
TEST_CASE("leave_one_out: equals kernel regression that excludes each point, with its gradient") {
  const Sample data = hard_data(60, 2);
  const LeaveOneOut points(data.x, data.y);
  const Tensor x = from_vector(data.x, {60}), y = from_vector(data.y, {60});
  for (const double value : {0.01, 0.8, 5.0}) {
    const Tensor w = full({1}, value, float64).requires_grad_();
    const Tensor weights = kernel_weights(x, x, SmoothingKernel::gaussian, w, eye(60) == 0);
    const Tensor errors = mv(weights, y) - y, by_matrix = mean(errors * errors);
    const Tensor by_sweep = points.loss(w);
    CHECK(by_sweep.item() == doctest::Approx(by_matrix.item()).epsilon(1e-12));
    CHECK(grad(by_sweep, {w})[0].item() == doctest::Approx(grad(by_matrix, {w})[0].item()).epsilon(1e-9));
  }
  const Tensor w = full({1}, 2, float64).requires_grad_();
  CHECK_THROWS_AS(grad(points.loss(w), {w}, true), Error);
}

// covers: C-000-05 C-000-15
TEST_CASE("leave_one_out: bounds() gives the widths of the mean and of the nearest neighbor") {
  const Sample data = hard_data(300, 4);
  const LeaveOneOut points(data.x, data.y);
  const double n = 300;
  double mean_y = 0, variance = 0;
  for (const double y : data.y) mean_y += y / n;
  for (const double y : data.y) variance += (y - mean_y) * (y - mean_y) / n;
  const auto bounds = points.bounds();
  CHECK(points.score(0).loss == doctest::Approx(variance * (n / (n - 1)) * (n / (n - 1))).epsilon(1e-12));
  CHECK(points.score(0).slope == 0);
  CHECK(points.score(bounds.flat).loss == points.score(0).loss);
  const double nearest = points.score(bounds.nearest).loss;
  CHECK(points.score(100 * bounds.nearest).loss == doctest::Approx(nearest).epsilon(1e-12));
  CHECK(points.score(bounds.nearest / 1000).loss != doctest::Approx(nearest).epsilon(1e-9));
}

TEST_CASE("leave_one_out: predictions at the points, in order, and elsewhere") {
  const LeaveOneOut points({3, 1, 2}, {30, 10, 26});
  const auto narrow = points.predictions(100);
  CHECK(largest_difference(narrow.without, {26, 26, 20}) < 1e-9);  // tie between two nearest points
  CHECK(narrow.with[0] == doctest::Approx(30));
  CHECK(largest_difference(points.predict({0, 2.6, 1e9}, 100), {10, 30, 30}) < 1e-9);
  CHECK(points.predict({5}, 0)[0] == doctest::Approx(22));
  CHECK_ERROR(LeaveOneOut({1}, {1}), "leave_one_out: there are 1 points; at least 2 are needed");
  CHECK_THROWS_AS(LeaveOneOut({1, 2}, {1}), Error);
  CHECK_THROWS_AS(LeaveOneOut({1, std::nan("")}, {1, 2}), Error);
}

TEST_CASE("leave_one_out: the same bits on any number of threads" * doctest::test_suite("threads")) {
  const Sample data = hard_data(20'000, 9);
  const LeaveOneOut points(data.x, data.y);
  for (const double w : {0.5, 30.0, 5e4})
    CHECK(same_on_threads([&] {
      const LeaveOneOut::Score score = points.score(w);
      return Tensors{tensor({score.loss, score.slope}, float64)};
    }));
}
