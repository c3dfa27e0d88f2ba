#include "examples/kernel_regression/search.h"

#include "tests/support/expect.h"

using program::LeaveOneOut;

// The minimal loss over 300 widths per factor of e, from flat to narrower than the smallest gap.
static double least_loss(const Values& x, const LeaveOneOut& points) {
  Values sorted = x;
  std::sort(sorted.begin(), sorted.end());
  const double range = sorted.back() - sorted.front();
  double gap = range;
  for (size_t i = 1; i < x.size(); ++i)
    if (sorted[i] > sorted[i - 1]) gap = std::min(gap, sorted[i] - sorted[i - 1]);
  double least = points.score(0).loss;
  const double low = std::log(1e-3 / range), high = std::log(30 / gap) + 0.5 * std::log(range / gap);
  for (double log_w = low; log_w < high; log_w += 1.0 / 300)
    least = std::min(least, points.score(std::exp(log_w)).loss);
  return least;
}

static void check_least(const Values& x, const Values& y) {
  const LeaveOneOut points(x, y);
  const auto search = program::search_width(x, y, points);
  CHECK(points.score(search.w).loss <= least_loss(x, points) * (1 + 1e-9) + 1e-12 * points.score(0).loss);
  CHECK(search.w > 0);
  for (const auto& descent : search.descents) {
    REQUIRE(!descent.losses.empty());
    CHECK(std::is_sorted(descent.losses.rbegin(), descent.losses.rend()));  // never increases
  }
}

// covers: C-000-16
TEST_CASE("search: the global minimum for many kinds of data" * doctest::test_suite("learning")) {
  heed::Generator random(3);
  const auto uniform = [&](double low, double high) { return low + (high - low) * random.uniform(); };
  for (int round = 0; round < 3; ++round) {
    for (const double unit : {1.0, 1e9, 1e-9}) {
      INFO("round ", round, ", unit ", unit);
      Values clusters, heights;  // distant clusters of close points, a sine wave in each
      for (int c = 0; c < 3; ++c) {
        const double middle = uniform(-100, 100), width = std::pow(10, uniform(-3, 1));
        for (int i = 0; i < 6; ++i) {
          const double z = uniform(-1, 1);
          clusters.push_back(unit * (middle + width * z));
          heights.push_back(c + 2 * std::sin(4 * z) + uniform(-0.3, 0.3));
        }
      }
      check_least(clusters, heights);

      Values x, periodic, steps, ties, noise, outliers;
      for (int i = 0; i < 20; ++i) {
        const double z = uniform(0, 10);
        x.push_back(unit * z);
        ties.push_back(unit * std::floor(z / 3));
        periodic.push_back(std::sin(5 * z) + 0.3 * z + uniform(-0.2, 0.2));
        steps.push_back(std::floor(z / 2));
        noise.push_back(uniform(-1, 1));
        outliers.push_back(noise.back() * (i % 5 == 0 ? 1e5 : 1));
      }
      for (const Values& y : {periodic, steps, noise, outliers}) check_least(x, y);
      check_least(ties, periodic);
    }
    Values x, y;  // few points
    for (int i = 0; i < 3 + round; ++i) {
      x.push_back(std::pow(10, uniform(-6, 6)));
      y.push_back(uniform(-1, 1));
    }
    check_least(x, y);
  }
}

TEST_CASE("search: minima at the ends of the range") {
  const Values x = {1, 2, 3, 4, 5, 6, 7, 8};
  const LeaveOneOut zigzag(x, {1, -1, 1, -1, 1, -1, 1, -1});  // near points do not help
  CHECK(program::search_width(x, {1, -1, 1, -1, 1, -1, 1, -1}, zigzag).w <= zigzag.bounds().flat);
  const Values pairs = {0, 1, 10, 11, 20, 21, 30, 31}, same = {5, 5, -3, -3, 8, 8, 0, 0};
  const LeaveOneOut points(pairs, same);
  CHECK(points.score(program::search_width(pairs, same, points).w).loss < 1e-10);
  const Values level(8, 4.5);
  const LeaveOneOut flat(x, level);
  CHECK(program::search_width(x, level, flat).w <= flat.bounds().flat);  // all equal: the smoothest
}
