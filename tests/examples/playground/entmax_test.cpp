#include "examples/playground/entmax.h"

#include "tests/support/expect.h"

using namespace program;

namespace {

Values entmax_of(const Values& scores) {
  return entmax(from_vector(scores, {std::ssize(scores)}, float64)).to_vector<double>();
}

// The t of max(s_j / 2 - t, 0)^2 by halving an interval.
Values entmax_by_bisection(const Values& scores) {
  const double top = *std::ranges::max_element(scores) / 2;
  double low = top - 1, high = top;
  Values p(scores.size());
  for (int step = 0; step < 100; ++step) {
    const double t = (low + high) / 2;
    double total = 0;
    for (size_t j = 0; j < p.size(); ++j) total += p[j] = std::pow(std::max(scores[j] / 2 - t, 0.0), 2);
    (total > 1 ? low : high) = t;
  }
  return p;
}

}  // namespace

TEST_CASE("entmax: equal scores, two scores in closed form, and zeros") {
  CHECK(largest_difference(entmax_of({3, 3, 3, 3}), {0.25, 0.25, 0.25, 0.25}) < 1e-12);
  // sqrt(p) - sqrt(q) = 0.3 and p + q = 1
  const double root = (0.3 + std::sqrt(2 - 0.09)) / 2;
  CHECK(largest_difference(entmax_of({0.6, 0}), {root * root, 1 - root * root}) < 1e-12);
  CHECK(entmax_of({2, 0}) == Values{1, 0});
  CHECK(entmax_of({-500, 500, 0}) == Values{0, 1, 0});
}

TEST_CASE("entmax: random rows as by bisection") {
  manual_seed(3);
  const Tensor scores = 2 * randn({20, 6}, float64), weights = entmax(scores);
  for (int64_t row = 0; row < 20; ++row)
    CHECK(largest_difference(weights[row].to_vector<double>(),
                             entmax_by_bisection(scores[row].to_vector<double>())) < 1e-9);
}

TEST_CASE("entmax: the Jacobian is diag(r) - r r^T / sum r with r = sqrt(p)") {
  const Tensor scores = tensor({0.2, 1.1, -0.3, -4.0}, float64).requires_grad_(), p = entmax(scores);
  const Tensor r = sqrt(p.detach());
  CHECK(r[3].item() == 0);
  for (int64_t i = 0; i < 4; ++i) {
    const Tensor row = grad(std::vector{p[i]}, {scores}, {.retain_graph = true})[0];
    const Tensor expected = r[i] * (to(arange(4, int64) == i, float64) - r / sum(r));
    CHECK(largest_difference(row.to_vector<double>(), expected.to_vector<double>()) < 1e-12);
  }
}
