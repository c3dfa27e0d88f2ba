#include "nn/functional.h"

#include "tests/support/references.h"

TEST_CASE("dropout keeps the expectation, passes gradients to the kept values, and is the identity in eval") {
  manual_seed(1);
  const Tensor x = full({100, 100}, 2).requires_grad_();
  const Tensor y = F::dropout(x, 0.25);
  int64_t dropped = 0;
  for (const double value : values(y)) {
    const bool zero = value == 0;
    CHECK((zero || value == doctest::Approx(2 / 0.75)));
    dropped += zero;
  }
  CHECK(dropped > 2300);
  CHECK(dropped < 2700);
  y.backward(ones({100, 100}));
  CHECK(values(x.grad() * 2) == values(y));
  CHECK(F::dropout(x, 0.25, false).same_as(x));
  CHECK(F::dropout(x, 0).same_as(x));
  CHECK(values(F::dropout(tensor({1, 2}), 1)) == Values{0, 0});
  CHECK_ERROR_HAS(F::dropout(x, 1.5), "dropout: p is 1.5; a probability lies in [0, 1]");
}

TEST_CASE("dropout draws from the given generator, different numbers in each call") {
  const Tensor x = ones({1000});
  Generator a(7), b(7);
  const auto first = values(F::dropout(x, 0.5, true, &a));
  CHECK(first == values(F::dropout(x, 0.5, true, &b)));
  CHECK(first != values(F::dropout(x, 0.5, true, &a)));
  manual_seed(7);
  CHECK(first == values(F::dropout(x, 0.5)));
}

TEST_CASE("losses: cases that the reference cases do not cover") {
  const Tensor x = tensor({0, 1, 4}), t = tensor({0, 3, 3});
  CHECK(values(F::smooth_l1_loss(x, t, Reduction::none, 0)) == Values{0, 2, 1});
  CHECK(F::kl_div(tensor({{-1, -2}}), tensor({{0, 0}}), {Reduction::batchmean, true}).item() == 3);
  CHECK(F::binary_cross_entropy(tensor({0.5, 0}), tensor({1, 1}), {.reduction = Reduction::sum}).item() ==
        doctest::Approx(100 + std::log(2.0)));
}

TEST_CASE("the shapes of prediction and target must be equal") {
  CHECK_ERROR_HAS(F::mse_loss(ones({3}), ones({3, 1})),
                  "mse_loss: input is [3], target is [3, 1]; they must be equal, a loss broadcasts nothing "
                  "(view or squeeze one of them)");
  const Tensor a = ones({2, 3}), b = ones({3});
  CHECK_THROWS_AS(F::l1_loss(a, b), Error);
  CHECK_THROWS_AS(F::smooth_l1_loss(a, b), Error);
  CHECK_THROWS_AS(F::huber_loss(a, b), Error);
  CHECK_THROWS_AS(F::kl_div(a, b), Error);
  CHECK_THROWS_AS(F::binary_cross_entropy(a, b), Error);
  CHECK_THROWS_AS(F::binary_cross_entropy_with_logits(a, b), Error);
  CHECK_THROWS_AS(F::cross_entropy(a, b), Error);
  CHECK_ERROR_HAS(
      F::mse_loss(ones({3}), ones({3}, float64)),
      "mse_loss: input is float32, target is float64; convert the target with to(target, float32)");
  CHECK_ERROR_HAS(F::cross_entropy(ones({4, 3}), zeros({3}, int64)),
                  "input is [4, 3], target is [3]; with classes in dimension 1 the target must be [4]");
  CHECK_THROWS_AS(F::nll_loss(ones({4, 3}), zeros({4, 1}, int64)), Error);
  CHECK_ERROR_HAS(F::mse_loss(a, a, Reduction::batchmean),
                  "mse_loss: the reduction is none, mean or sum; batchmean belongs to kl_div");
}

TEST_CASE("losses do not overflow") {
  const Tensor x = tensor({1e4, -1e4, 1e4, -1e4}).requires_grad_(), t = tensor({1, 0, 0, 1});
  const Tensor loss = F::binary_cross_entropy_with_logits(x, t, {.reduction = Reduction::none});
  CHECK(values(loss) == Values{0, 0, 1e4, 1e4});
  loss.backward(ones({4}));
  CHECK(values(x.grad()) == Values{0, 0, 1, -1});
  const Tensor logits = tensor({{1e4, 0}, {0, 1e4}}).requires_grad_();
  const Tensor each = F::cross_entropy(logits, tensor({0, 0}, int64), {.reduction = Reduction::none});
  CHECK(values(each) == Values{0, 1e4});
  each.backward(ones({2}));
  CHECK(values(logits.grad()) == Values{0, 0, -1, 1});
}

TEST_CASE("cross_entropy agrees with nll_loss and with probabilities as targets") {
  Generator generator(3);
  const Tensor x = randn({5, 4, 3}, float64, &generator), w = rand({4}, float64, &generator);
  Tensor target = randint(0, 4, {5, 3}, &generator);
  target.mutable_data<int64_t>()[2] = -100;
  for (const Reduction reduction : {Reduction::none, Reduction::mean, Reduction::sum}) {
    const CrossEntropyOptions options{.weight = w, .reduction = reduction};
    const Tensor nll = F::nll_loss(log_softmax(x, 1), target, options);
    CHECK(largest_difference(F::cross_entropy(x, target, options), nll) < 1e-12);
  }
  const Tensor all = randint(0, 4, {5, 3}, &generator);
  const Tensor probabilities = permute(to(one_hot(all, 4), float64), {0, 2, 1});
  CHECK(F::cross_entropy(x, all, {.label_smoothing = 0.2}).item() ==
        doctest::Approx(F::cross_entropy(x, probabilities, {.label_smoothing = 0.2}).item()).epsilon(1e-12));
}

TEST_CASE("binary_cross_entropy at probabilities 0 and 1 has a gradient, large where they are wrong") {
  // For correct probabilities PyTorch's gradient is 0; the limits are 1 and -1.
  for (const DType dtype : {float32, float64}) {
    const Tensor p = tensor({0, 0, 1, 1}, dtype).requires_grad_();
    const Tensor loss =
        F::binary_cross_entropy(p, tensor({0, 1, 0, 1}, dtype), {.reduction = Reduction::none});
    sum(loss).backward();
    CHECK(values(loss) == Values{0, 100, 100, 0});
    CHECK(largest_difference(values(p.grad()), {1, -1e12, 1e12, -1}, Difference::relative) < 1e-6);
  }
}

TEST_CASE("cross_entropy: classes in any dimension class_dim") {
  const Tensor x = randn({2, 3, 4}, float64), target = randint(0, 4, {2, 3}), w = rand({4}, float64);
  const Tensor shares = softmax(randn({2, 3, 4}, float64), -1);
  for (const Reduction reduction : {Reduction::none, Reduction::mean}) {
    CrossEntropyOptions options{.weight = w, .reduction = reduction, .label_smoothing = 0.1};
    const Tensor want = F::cross_entropy(transpose(x), target, options);
    const Tensor of_shares = F::cross_entropy(transpose(x), transpose(shares), options);
    for (const int64_t dim : {-1, 2}) {
      options.class_dim = dim;
      CHECK(largest_difference(F::cross_entropy(x, target, options), want) == 0);
      CHECK(largest_difference(F::cross_entropy(x, shares, options), of_shares) < 1e-15);
    }
    options.class_dim = 0;
    CHECK(largest_difference(F::cross_entropy(permute(x, {2, 0, 1}), target, options), want) == 0);
  }
  CHECK_ERROR_HAS(F::cross_entropy(x, target),
                  "input is [2, 3, 4], target is [2, 3]; with classes in dimension 1 the target must be [2, "
                  "4]; class_dim = -1 says that the last has them");
}

TEST_CASE("cross_entropy: NaN if every target is ignored; one row without a batch") {
  const Tensor x = ones({2, 3});
  CHECK(std::isnan(F::cross_entropy(x, full({2}, -100, int64)).item()));
  CHECK(F::cross_entropy(x, full({2}, -100, int64), {.reduction = Reduction::sum}).item() == 0);
  CHECK(F::cross_entropy(zeros({0, 3}), zeros({0}, int64), {.reduction = Reduction::sum}).item() == 0);
  CHECK(F::cross_entropy(tensor({0, 0}), tensor(1, int64)).item() == doctest::Approx(std::log(2.0)));
}

TEST_CASE("losses: errors") {
  const Tensor x = ones({2, 3}), t = zeros({2}, int64);
  CHECK_ERROR_HAS(F::cross_entropy(x, t, {.weight = ones({2})}),
                  "cross_entropy: the weight is float32 [2] and must be float32 [3], one for each class");
  CHECK_THROWS_AS(F::cross_entropy(x, t, {.label_smoothing = 1.5}), Error);
  CHECK_THROWS_AS(F::cross_entropy(x, full({2}, 3, int64)), Error);
  CHECK_THROWS_AS(F::nll_loss(x, full({2}, 3, int64)), Error);
  CHECK_THROWS_AS(F::nll_loss(x, t, {.weight = ones({2})}), Error);
  CHECK_THROWS_AS(F::nll_loss(x, ones({2})), Error);
  CHECK_THROWS_AS(F::cross_entropy(x, t, {.weight = ones({3}).requires_grad_()}), Error);
  CHECK_THROWS_AS(F::cross_entropy(x, t, {.reduction = Reduction::batchmean}), Error);
  CHECK_THROWS_AS(F::binary_cross_entropy(x * 2, x), Error);
  CHECK_THROWS_AS(F::binary_cross_entropy_with_logits(x, x, {.weight = ones({4, 2, 3})}), Error);
  CHECK_THROWS_AS(F::smooth_l1_loss(x, x, Reduction::mean, -1), Error);
  CHECK_THROWS_AS(F::huber_loss(x, x, Reduction::mean, 0), Error);
}

TEST_CASE("losses are recorded at the line of their call") {
  const Tensor x = ones({2, 3}).requires_grad_();
  const uint32_t line = std::source_location::current().line() + 1;
  const Tensor loss = F::mse_loss(x, ones({2, 3}));
  CHECK(Node::of(loss)->line.line() == line);
  CHECK(std::string(Node::of(loss)->line.file_name()).ends_with("functional_test.cpp"));
}

TEST_CASE("entmax_loss: 0 where the target has all probability; its gradient is p - one_hot") {
  CHECK(F::entmax_loss(tensor({{5, 0, 0}}, float64), tensor({0}, int64)).item() == 0);
  const Tensor x = leaf({{0.5, 0.25, -3}, {0, 1, 2}}), target = tensor({1, 0}, int64);
  for (const double alpha : {1.3, 1.5, 2.0}) {
    const Tensor p = entmax(x.detach(), alpha),
                 d = grad({F::entmax_loss(x, target, alpha, Reduction::sum)}, {x})[0];
    CHECK(largest_difference(d, p - to(one_hot(target, 3), float64)) < 1e-14);
  }
  // sparsemax: ((sum over the support of x^2 - t^2) + 1) / 2 - x_target, t the threshold (Martins and
  // Astudillo 2016)
  const double t = (0.75 - 1) / 2;
  CHECK(F::entmax_loss(x[0], tensor(1, int64), 2).item() ==
        doctest::Approx((0.25 + 0.0625 - 2 * t * t + 1) / 2 - 0.25).epsilon(1e-14));
  CHECK(F::entmax_loss(x, target, 1.0001).item() ==
        doctest::Approx(F::cross_entropy(x, target).item()).epsilon(1e-3));
  CHECK_ERROR_HAS(F::entmax_loss(x, target, 1), "alpha is 1");
  CHECK_ERROR_HAS(F::entmax_loss(x, tensor({1, 3}, int64)), "entmax_loss: ");
}
