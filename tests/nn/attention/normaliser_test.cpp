#include "nn/attention/normaliser.h"

#include "nn/attention/pooling.h"
#include "tests/support/expect.h"

TEST_CASE("SparsemaxNormaliser: the projection onto probabilities, many exactly 0") {
  const SparsemaxNormaliser sparse;
  CHECK(values(sparse(tensor({{0.5, 0.25, -3}}, float64), {})) == Values{0.625, 0.375, 0});
  CHECK(values(sparse(tensor({{9, 1, 1}}, float64), {})) == Values{1, 0, 0});
  manual_seed(3);
  for (const int64_t n : {1, 2, 7, 64, 300}) {
    const Tensor x = randn({n}, float64);
    const Tensor y = sparse(x, {});
    CHECK(sum(y).item() == doctest::Approx(1).epsilon(1e-12));
    const Tensor above = x - max(x - y);
    CHECK(largest_difference(y, where(above > 0, above, 0)) < 1e-12);
  }
  const Mask mask = tensor({{1, 0, 1}, {0, 0, 0}}, boolean);
  CHECK(values(sparse(tensor({{0, 5, 0}, {1, 2, 3}}), mask)) == Values{0.5, 0, 0.5, 0, 0, 0});
  CHECK(std::isnan(values(sparse(tensor({{0, NAN}}), {}))[0]));
  CHECK(std::isnan(values(sparse(tensor({{0, kInf}}), {}))[1]));
}

// covers: C-100-02
TEST_CASE("SoftmaxNormaliser: masked scores have no influence, even NaN") {
  const Mask mask = tensor({{1, 1, 0}, {0, 0, 0}}, boolean);
  const Tensor scores = tensor({{0, 0, NAN}, {kInf, 1e30, -kInf}}).requires_grad_();
  const Tensor weights = SoftmaxNormaliser()(scores, mask);
  CHECK(values(weights) == Values{0.5, 0.5, 0, 0, 0, 0});
  sum(weights * tensor({{1, 2, 3}, {4, 5, 6}})).backward();
  CHECK(values(scores.grad()) == Values{-0.25, 0.25, 0, 0, 0, 0});
  CHECK(std::isnan(values(softmax(full({1, 2}, -kInf), -1))[0]));  // without a mask NaN, as in PyTorch
}

// covers: C-003-12
TEST_CASE("HardNormaliser: draws one key; the mean of S draws approaches soft attention as 1/sqrt(S)") {
  manual_seed(11);
  const Tensor scores = tensor({{0, 1, 2, -1}}, float64), values_ = tensor({{1}, {2}, {4}, {8}}, float64);
  const Tensor soft = attention_pool(softmax(scores, -1), values_);
  const auto error = [&](int64_t draws) {  // root mean square over 200 means
    double sum = 0;
    for (int i = 0; i < 200; ++i) {
      const Tensor weights = HardNormaliser()(expand(scores, {draws, 4}), {});
      sum += std::pow(mean(attention_pool(weights, values_)).item() - soft.item(), 2);
    }
    return std::sqrt(sum / 200);
  };
  const double at_10 = error(10), at_1000 = error(1000);
  CHECK(at_10 / at_1000 == doctest::Approx(10).epsilon(0.25));
  const double p[] = {0.0321, 0.0871, 0.2369, 0.6439}, x[] = {8, 1, 2, 4};
  double mean = 0, square = 0;
  for (int i = 0; i < 4; ++i) mean += p[i] * x[i], square += p[i] * x[i] * x[i];
  CHECK(at_1000 == doctest::Approx(std::sqrt((square - mean * mean) / 1000)).epsilon(0.2));
  const Tensor shares = heed::mean(HardNormaliser()(expand(scores, {100'000, 4}), {}), 0);
  CHECK(largest_difference(shares, softmax(scores, -1)[0]) < 0.007);  // at most four standard deviations
}

TEST_CASE("HardNormaliser: weights are 0 and 1, masked keys are never drawn, the gradient is the softmax's") {
  manual_seed(5);
  const Tensor scores = randn({50, 6}, float64).requires_grad_();
  const Mask mask = Mask::causal(1) | Mask(arange(6, int64) < 3) | Mask(unsqueeze(arange(50, int64), 1) > 40);
  const Mask some = mask & Mask(unsqueeze(arange(50, int64), 1) != 7);
  const Tensor weights = HardNormaliser()(scores, some);
  CHECK(all(logical_or(weights == 0, weights == 1)).item<bool>());
  const Tensor rows = sum(weights, -1);
  CHECK(rows[7].item() == 0);
  CHECK(sum(rows).item() == 49);
  CHECK(largest_difference(where(some.allowed(), weights, 0), weights) == 0);
  const Tensor g = randn({50, 6}, float64);
  const Tensor direct = grad({sum(masked_softmax(scores, some.allowed()) * g)}, {scores})[0];
  CHECK(largest_difference(grad({sum(weights * g)}, {scores})[0], direct) < 1e-14);
}

TEST_CASE("make_normaliser: by name") {
  for (const std::string& name : normaliser_names())
    CHECK(make_normaliser(name)(randn({2, 4}), {}).shape() == Shape{2, 4});
  CHECK_ERROR(make_normaliser("max"),
              "make_normaliser: there is no normaliser max; there are softmax, sparsemax, hard");
}
