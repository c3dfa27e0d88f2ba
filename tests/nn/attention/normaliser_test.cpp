#include "nn/attention/normaliser.h"

#include "autograd/ops/elementary.h"
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

TEST_CASE("EntmaxNormaliser: from softmax to sparsemax; the threshold solves its equation") {
  const Tensor one = tensor({{0.5, 0.25, -3}}, float64);
  // (z - t)^2 for z = 0.25, 0.125 with (0.25 - t)^2 + (0.125 - t)^2 = 1
  const double first = 0.1875 - std::sqrt((1 - 2 * 0.0625 * 0.0625) / 2);
  CHECK(largest_difference(values(EntmaxNormaliser()(one, {})),
                           Values{std::pow(0.25 - first, 2), std::pow(0.125 - first, 2), 0}) < 1e-15);
  manual_seed(4);
  for (const double alpha : {1.1, 1.5, 1.7, 2.0, 3.0})
    for (const int64_t n : {1, 2, 7, 64, 300}) {
      const Tensor x = 3 * randn({n}, float64), y = EntmaxNormaliser{alpha}(x, {});
      CHECK(sum(y).item() == doctest::Approx(1).epsilon(1e-12));
      const Tensor z = (alpha - 1) * x;
      const double t = max(z).item() - std::pow(max(y).item(), alpha - 1);
      CHECK(largest_difference(y, exp(log(maximum(z - t, 0)) / (alpha - 1))) < 1e-12);
    }
  const Tensor x = randn({5, 9}, float64);
  CHECK(largest_difference(entmax(x, 1), softmax(x, -1)) == 0);
  CHECK(largest_difference(entmax(x, 2), sparsemax(x)) == 0);
  CHECK(largest_difference(entmax(x, 1.0001), softmax(x, -1)) < 1e-3);
  CHECK(largest_difference(entmax(x, 1.5 + 1e-9), entmax(x)) < 1e-7);
  const Mask mask = tensor({{1, 0, 1}, {0, 0, 0}}, boolean);
  for (const double alpha : {1.3, 1.5})
    CHECK(largest_difference(values(entmax(tensor({{0, NAN, 0}, {1, 2, 3}}, float64), alpha, mask)),
                             Values{0.5, 0, 0.5, 0, 0, 0}) < 1e-14);
  CHECK(std::isnan(values(entmax(tensor({{0, NAN}})))[0]));
  CHECK_ERROR(entmax(x, 0.5), "entmax: alpha is 0.5; it must be at least 1");
}

TEST_CASE("SigmoidNormaliser: each weight by itself; together about 1; masked keys and rows are 0") {
  const Tensor s = tensor({{0, 1, -2}, {3, NAN, 0}}, float64);
  const Mask mask = tensor({{1, 1, 0}, {1, 0, 0}}, boolean);
  const auto sigmoid_of = [](double x) { return 1 / (1 + std::exp(-x)); };
  CHECK(largest_difference(values(SigmoidNormaliser()(s, mask)),
                           Values{1.0 / 3, sigmoid_of(1 - std::log(2)), 0, sigmoid_of(3), 0, 0}) < 1e-15);
  CHECK(largest_difference(values(SigmoidNormaliser{-1}(narrow(s, 0, 0, 1), {})),
                           Values{sigmoid_of(-1), 0.5, sigmoid_of(-3)}) < 1e-15);
  CHECK(sum(SigmoidNormaliser()(zeros({1, 500}), {})).item() == doctest::Approx(1).epsilon(0.01));
  CHECK(magnitude(SigmoidNormaliser()(s, Mask(zeros({2, 1}, boolean)))) == 0);
}

TEST_CASE("MonotonicNormaliser: the sum over all ways; hard, it reads no later keys") {
  manual_seed(8);
  const Tensor s = randn({2, 4, 5}, float64), p = sigmoid(s), a = MonotonicNormaliser()(s, {});
  for (int64_t b = 0; b < 2; ++b) {
    Values before(5, 0);
    before[0] = 1;
    for (int64_t i = 0; i < 4; ++i) {
      Values now(5, 0);
      for (size_t from = 0; from < 5; ++from) {
        double reached = before[from];
        for (size_t j = from; j < 5; ++j) {
          const double choice = p[{b, i, static_cast<int64_t>(j)}].item();
          now[j] += reached * choice;
          reached *= 1 - choice;
        }
      }
      CHECK(largest_difference(values(a[b][i]), now) < 1e-14);
      before = now;
    }
  }
  const Tensor scores = tensor({{-1, 2, 3}, {1, -1, 2}, {1, 1, -1}});
  CHECK(values(MonotonicNormaliser{true}(scores, {})) == Values{0, 1, 0, 0, 0, 1, 0, 0, 0});
  const Mask mask = tensor({{1, 0, 1}}, boolean);
  CHECK(values(MonotonicNormaliser{true}(scores, mask)) == Values{0, 0, 1, 0, 0, 1, 0, 0, 0});
  CHECK(MonotonicNormaliser()(zeros({0, 3}), {}).shape() == Shape{0, 3});
  const auto f = [](const Tensors& x) { return MonotonicNormaliser()(x[0], {}); };
  CHECK(gradcheck(f, {narrow(s, 1, 0, 3).detach().requires_grad_()}));
  CHECK(gradgradcheck(f, {narrow(s, 1, 0, 3).detach().requires_grad_()}));
}

TEST_CASE(
    "GumbelNormaliser: a small tau or `hard` draws from the softmax; the gradient is that of the soft") {
  manual_seed(9);
  const Tensor scores = tensor({{0, 1, 2, -1}}, float64), many = expand(scores, {100'000, 4});
  for (const GumbelNormaliser& draw : {GumbelNormaliser{1e-3}, GumbelNormaliser{1, true}})
    CHECK(largest_difference(mean(draw(many, {}), 0), softmax(scores, -1)[0]) < 0.007);
  const Mask mask = tensor({{1, 0, 1, 1}, {0, 0, 0, 0}}, boolean);
  const Tensor x = randn({2, 4}, float64).requires_grad_(), g = randn({2, 4}, float64);
  const auto gradient = [&](bool hard) {
    manual_seed(1);
    const Tensor y = GumbelNormaliser{0.7, hard}(x, mask);
    CHECK(largest_difference(sum(y, -1), tensor({1, 0}, float64)) < 1e-12);
    if (hard) CHECK(all(logical_or(y == 0, y == 1)).item<bool>());
    return grad({sum(y * g)}, {x})[0];
  };
  CHECK(largest_difference(gradient(true), gradient(false)) == 0);
  CHECK_ERROR_HAS(GumbelNormaliser{0}(x, {}), "tau is 0");
}

TEST_CASE(
    "reinforce_loss: the mean of its gradients is that of the mean reward; a baseline lowers variance") {
  manual_seed(10);
  const Tensor one = tensor({{0, 1, 0.5}}, float64), reward = tensor({10, 11, 13}, float64);
  const Tensor exact = [&] {
    const Tensor x = one.detach().requires_grad_();
    return grad({-sum(softmax(x, -1) * reward)}, {x})[0];
  }();
  const int64_t n = 20'000;
  const auto estimate = [&](double baseline) {  // its mean and its variance
    const Tensor x = expand(one, {n, 3}).detach().requires_grad_();
    const auto [weights, log_prob] = sample_hard(x);
    CHECK(largest_difference(log_prob, log(sum(weights * softmax(x, -1), -1))) < 1e-12);
    const Tensor d = grad({F::reinforce_loss(log_prob, sum(weights * reward, -1), baseline)}, {x})[0] * n;
    return std::pair(mean(d, 0), sum(square(d - mean(d, 0))).item() / n);
  };
  RewardBaseline running{.decay = 0.5};
  CHECK(running(reward) == 0);
  CHECK(running(reward) == doctest::Approx(17.0 / 3));
  const auto [plain, much] = estimate(0);
  const auto [shifted, little] = estimate(11.6);
  CHECK(largest_difference(plain, exact[0]) < 4 * std::sqrt(much / n));
  CHECK(largest_difference(shifted, exact[0]) < 4 * std::sqrt(little / n));
  CHECK(little < much / 20);
  CHECK(F::reinforce_loss(tensor({1, 2}), tensor(3), 1, tensor({1, 0}, boolean)).item() == -2);
  CHECK(F::reinforce_loss(tensor({1, 2}), 3).item() == -4.5);
  const auto [weights, log_prob] = sample_hard(one, Mask(zeros({1, 1}, boolean)));
  CHECK((magnitude(weights) == 0 && magnitude(log_prob) == 0));
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
              "make_normaliser: there is no normaliser max; there are softmax, sparsemax, hard, "
              "entmax, sigmoid, gumbel");
}
