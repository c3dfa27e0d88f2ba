#include "nn/text/sequence_loss.h"

#include "nn/functional.h"
#include "tests/support/references.h"

static Tensors loss_and_gradient(const Tensor& logits, const Tensor& targets, const Tensor& lengths = {}) {
  return value_and_gradients([&](auto& in) { return sequence_loss(in[0], targets, lengths); }, {logits});
}

TEST_CASE("sequence_loss: computed by hand") {
  // Two classes; row 0 has both tokens, row 1 the first. -log softmax: log(1 + e^-1), log 2, log(1 + e^2)
  const Tensor logits = tensor({{{1, 0}, {3, 3}}, {{2, 0}, {9, -9}}}, float64);
  const Tensor targets = tensor({{0, 1}, {1, 1}}, int64), lengths = tensor({2, 1}, int64);
  const double a = std::log1p(std::exp(-1)), b = std::log(2), c = std::log1p(std::exp(2));
  CHECK(sequence_loss(logits, targets, lengths).item() == doctest::Approx((a + b + c) / 3).epsilon(1e-14));
  CHECK(sequence_loss(logits, targets, lengths, {.reduction = Reduction::sum}).item() ==
        doctest::Approx(a + b + c).epsilon(1e-14));
  const Tensor each = sequence_loss(logits, targets, lengths, {.reduction = Reduction::none});
  CHECK(each.shape() == Shape{2, 2});
  CHECK(each.to_vector()[2] == doctest::Approx(c).epsilon(1e-14));
  CHECK(each.to_vector()[3] == 0);
  // Without lengths, target 0 is <pad> and not valid.
  CHECK(sequence_loss(logits, targets).item() == doctest::Approx((b + c + 18) / 3).epsilon(1e-7));
  CrossEntropyOptions options{.weight = tensor({1, 3}, float64), .label_smoothing = 0.25};
  const Tensor valid = tensor({{1, 0}, {3, 3}, {2, 0}}, float64);
  CHECK(sequence_loss(logits, targets, lengths, options).item() ==
        doctest::Approx(F::cross_entropy(valid, tensor({0, 1, 1}, int64), options).item()).epsilon(1e-14));
}

// covers: C-100-05
TEST_CASE("sequence_loss: padding changes neither loss nor gradient") {
  const auto compare = [](DType dtype, double garbage) {
    CAPTURE(garbage);
    const Tensor logits = randn({3, 7, 11}, dtype), targets = randint(1, 11, {3, 7});
    const Tensor lengths = tensor({7, 3, 5}, int64);
    const Tensor more = cat({logits, full({3, 50, 11}, garbage, dtype)}, 1);
    const Tensor more_targets = cat({targets, full({3, 50}, 999, int64)}, 1);
    const Tensors before = loss_and_gradient(logits, targets, lengths);
    const Tensors after = loss_and_gradient(more, more_targets, lengths);
    const double rounding = dtype == float32 ? 1e-6 : 1e-14;
    CHECK(largest_difference(after[0], before[0]) < rounding);
    CHECK(largest_difference(after[1], pad(before[1], {0, 0, 0, 50})) <= rounding);
    const Tensor behind = narrow(before[1][1], 0, 3, 4);  // row 1 has three tokens
    CHECK(largest_difference(behind, zeros({4, 11}, dtype)) == 0);
  };
  for (const bool plain : {false, true}) {
    const Reference mode(plain);
    for (const DType dtype : {float32, float64})
      for (const double garbage : {1e3, kInf, kNaN}) compare(dtype, garbage);
  }
}

// covers: C-100-05
TEST_CASE("sequence_loss: without lengths, <pad> marks the end") {
  const Tensor logits = randn({2, 4, 5}, float64);
  const Tensor targets = tensor({{1, 2, 3, 4}, {4, 0, 0, 0}}, int64);
  const Tensors by_length = loss_and_gradient(logits, targets, tensor({4, 1}, int64));
  const Tensors by_pad = loss_and_gradient(logits, targets);
  CHECK(largest_difference(by_length[0], by_pad[0]) == 0);
  CHECK(largest_difference(by_length[1], by_pad[1]) == 0);
}

TEST_CASE("sequence_loss: errors") {
  const Tensor logits = zeros({2, 3, 4}), targets = ones({2, 3}, int64);
  CHECK_ERROR(
      sequence_loss(logits, ones({2, 4}, int64)),
      "sequence_loss: the logits are [2, 3, 4], the targets [2, 4]; they must be [B, T, C] and [B, T]");
  CHECK_ERROR_HAS(sequence_loss(zeros({3, 4}), ones({3}, int64)), "[B, T, C]");
  CHECK_ERROR(
      sequence_loss(logits, targets, tensor({1, 2, 3}, int64)),
      "sequence_loss: the lengths are [3], the targets [2, 3]; there must be one length for each row");
  for (const auto& lengths : {tensor({4, 1}, int64), tensor({-1, 1}, int64)})
    CHECK_ERROR_HAS(sequence_loss(logits, targets, lengths), "lengths must be from 0 to 3");
  CHECK_ERROR(sequence_loss(logits, targets, tensor({0, 0}, int64)),
              "sequence_loss: no token is valid, so the mean is undefined; every sequence is padding");
  CHECK_ERROR_HAS(sequence_loss(logits, zeros({2, 3}, int64)), "no token is valid");
  CHECK_ERROR_HAS(sequence_loss(logits, zeros({2, 3})), "int64");
  CHECK(sequence_loss(logits, targets, tensor({0, 0}, int64), {.reduction = Reduction::sum}).item() == 0);
}

TEST_CASE("sequence_loss: a valid target must be a class") {
  for (const int64_t wrong : {-100, -1, 2})
    CHECK_THROWS_AS(sequence_loss(zeros({1, 2, 2}), from_vector(std::vector<int64_t>{0, wrong}, {1, 2}),
                                  tensor({2}, int64)),
                    Error);
}
