#include "autograd/ops/sampling.h"

#include "tests/support/expect.h"

TEST_CASE("bernoulli: 1 with probability p, the same for every dtype") {
  Generator one(5), two(5);
  const Tensor p = tensor({0, 0.25, 1}), y = bernoulli(expand(p, {4000, 3}), &one);
  CHECK(values(bernoulli(expand(to(p, float64), {4000, 3}), &two)) == values(y));
  const Values mean_of = values(mean(y, 0));
  CHECK(mean_of[0] == 0);
  CHECK(mean_of[1] == doctest::Approx(0.25).epsilon(0.1));
  CHECK(mean_of[2] == 1);
  manual_seed(3);
  const Tensor first = bernoulli(full({20}, 0.5));
  manual_seed(3);
  CHECK(values(bernoulli(full({20}, 0.5))) == values(first));
  manual_seed(0);
  CHECK_ERROR(bernoulli(tensor({0.5, 1.5})),
              "bernoulli: p [2] has values from 0.5 to 1.5; probabilities lie in [0, 1]");
  CHECK_ERROR_HAS(bernoulli(tensor({kNaN})), "with 1 NaN; probabilities");
  CHECK_ERROR_HAS(bernoulli(tensor({1}, int64)), "bernoulli: x is int64");
}

TEST_CASE("multinomial: each position as often as its weight says") {
  Generator generator(7);
  const Tensor weights = tensor({{1, 0, 3}, {0, 5, 0}});
  const Tensor y = multinomial(weights, 8000, true, &generator);
  CHECK(y.shape() == Shape{2, 8000});
  const auto share = [](const Tensor& positions, int64_t of) {
    return mean(to(positions == of, float64)).item();
  };
  CHECK(share(y[0], 0) == doctest::Approx(0.25).epsilon(0.1));
  CHECK(share(y[0], 1) == 0);
  CHECK(share(y[1], 1) == 1);
}

// Of weights 1, 2, 3 the first two positions are 0 and 1 with probability 1/6 2/5, and so on.
TEST_CASE("multinomial without replacement: positions differ, each drawn from those that are left") {
  Generator generator(7);
  const Tensor y = multinomial(expand(tensor({1, 2, 0, 3}), {12000, 4}), 2, false, &generator);
  const auto share = [&](int64_t first, int64_t second) {
    return mean(to(logical_and(y[{whole, 0}] == first, y[{whole, 1}] == second), float64)).item();
  };
  CHECK(share(0, 1) == doctest::Approx(1 / 6. * 2 / 5).epsilon(0.1));
  CHECK(share(0, 3) == doctest::Approx(1 / 6. * 3 / 5).epsilon(0.1));
  CHECK(share(1, 3) == doctest::Approx(2 / 6. * 3 / 4).epsilon(0.1));
  CHECK(share(3, 1) == doctest::Approx(3 / 6. * 2 / 3).epsilon(0.1));
  CHECK_FALSE(any(y == 2).item<bool>());
  CHECK_FALSE(any(y[{whole, 0}] == y[{whole, 1}]).item<bool>());
  const Tensor all_three = multinomial(tensor({1e-300, 0, 1e300}, float64), 2);
  CHECK(values(all_three) == Values{2, 0});
}

TEST_CASE("multinomial: invalid weights") {
  CHECK_ERROR(multinomial(tensor({1, 0, 2}), 3),
              "multinomial: row 0 has the sum 0 after 2 samples; it must be above 0 and finite");
  CHECK_ERROR(multinomial(tensor({{1, 1}, {0, 0}}), 1, true),
              "multinomial: row 1 has the sum 0 after 0 samples; it must be above 0 and finite");
  CHECK_ERROR_HAS(multinomial(tensor({1, -1}), 1),
                  "x [2] has values from -1 to 1; weights must not be negative");
  CHECK_ERROR_HAS(multinomial(tensor({1, kNaN}), 1), "from 1 to 1 with 1 NaN");
  CHECK_ERROR_HAS(multinomial(tensor({kInf, 1}), 1), "has the sum inf after 0 samples");
  CHECK_ERROR_HAS(multinomial(tensor({1e308, 1e308}, float64), 1, true), "has the sum inf");
  CHECK_ERROR_HAS(multinomial(tensor({1, 2}), 0), "num_samples at least 1");
  CHECK_ERROR_HAS(multinomial(tensor(1), 1), "x must be [n] or [rows, n]");
  CHECK_ERROR_HAS(multinomial(zeros({0}), 1, true), "row 0 has the sum 0");
  CHECK(multinomial(zeros({0, 3}), 2).shape() == Shape{0, 2});
}
