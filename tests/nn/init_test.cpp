#include "nn/init.h"

#include "autograd/ops/moments.h"
#include "tests/support/expect.h"

// x must be uniform in [-bound, bound), with enough values to come near the bounds.
static void check_uniform(const Tensor& x, double bound) {
  CHECK(std::abs(mean(x).item()) < 0.02 * bound);
  CHECK(heed::stddev(x).item() == doctest::Approx(bound / std::sqrt(3.0)).epsilon(0.02));
  for (const double most : {-min(x).item(), max(x).item()}) {
    CHECK(most <= bound * (1 + 1e-6));
    CHECK(most > 0.99 * bound);
  }
}

static void check_normal(const Tensor& x, double std) {
  CHECK(std::abs(mean(x).item()) < 0.03 * std);
  CHECK(heed::stddev(x).item() == doctest::Approx(std).epsilon(0.02));
  CHECK(max(x).item() > 3 * std);
}

TEST_CASE("distributions of initial values") {
  manual_seed(1);
  check_uniform(init::uniform({200, 100}, -3, 3), 3);
  check_uniform(init::uniform_fan_in(16, {200, 100}), 0.25);
  check_uniform(init::xavier_uniform({200, 100}, 2), 2 * std::sqrt(6.0 / 300));
  check_uniform(init::kaiming_uniform({200, 100}), std::sqrt(6.0 / 100));
  check_uniform(init::kaiming_uniform({200, 100}, {.negative_slope = std::sqrt(5.0)}), 0.1);
  check_uniform(init::kaiming_uniform({200, 100}, {.fan = init::Fan::out}), std::sqrt(6.0 / 200));
  check_normal(init::normal({200, 100}, 0, 0.5), 0.5);
  check_normal(init::xavier_normal({200, 100}), std::sqrt(2.0 / 300));
  check_normal(init::kaiming_normal({200, 100}, {.nonlinearity = init::Nonlinearity::linear}), 0.1);
  CHECK(mean(init::normal({5000}, 7, 0.1)).item() == doctest::Approx(7).epsilon(0.001));
  CHECK(values(init::constant({2}, 0.5)) == Values{0.5, 0.5});
  CHECK(init::xavier_uniform({0, 0}).numel() == 0);
}

TEST_CASE("the same seed or generator gives the same values") {
  manual_seed(5);
  const auto first = init::kaiming_normal({4, 4}).to_vector<float>();
  CHECK(init::kaiming_normal({4, 4}).to_vector<float>() != first);
  manual_seed(5);
  CHECK(init::kaiming_normal({4, 4}).to_vector<float>() == first);
  Generator a(9), b(9);
  CHECK(init::xavier_uniform({4, 4}, 1, &a).to_vector<float>() ==
        init::xavier_uniform({4, 4}, 1, &b).to_vector<float>());
}
