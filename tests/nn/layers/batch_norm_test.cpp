#include "nn/layers/batch_norm.h"

#include "nn/debug/check_module.h"
#include "nn/training/evaluation.h"
#include "tests/support/expect.h"
#include "tests/support/wave.h"

namespace {

// Three batches of training. PyTorch 2.13 gave the expected numbers, in float64.
template <class Norm>
void check_running(Norm norm, const Shape& shape, const Values& mean, const Values& var, double projection) {
  norm.to(float64);
  for (int i = 0; i < 3; ++i) norm(wave(shape, 1.3, 0.5 + i));
  CHECK(largest_difference(values(norm.running_mean), mean) < 1e-12);
  CHECK(largest_difference(values(norm.running_var), var) < 1e-12);
  CHECK(norm.num_batches_tracked.template item<int64_t>() == 3);
  norm.eval();
  const Tensor y = norm(wave(shape, 1.3, 0.1));
  CHECK(sum(y * wave(shape, 0.37, 0)).item() == doctest::Approx(projection).epsilon(1e-12));
  CHECK(norm.num_batches_tracked.template item<int64_t>() == 3);
}

}  // namespace

TEST_CASE("batch norm: running statistics are PyTorch's") {
  check_running(BatchNorm1d(3), {4, 3}, {0.020608331480837096, -0.03906692337039652, -0.041509043959932275},
                {0.8982865606165701, 0.8953143158021185, 0.8971912517785812}, -0.04491823477676937);
  check_running(BatchNorm1d(3, {.momentum = 0.3}), {2, 3, 4},
                {0.00273737574580349, -0.002824263051827114, -0.005383804393640894},
                {0.7244739961374013, 0.7006115746834489, 0.7322185215300108}, 0.8880910505224837);
  check_running(BatchNorm2d(3, {.momentum = {}}), {2, 3, 2, 2},
                {0.002005623506994095, -0.005873632147571296, -0.007509412671439999},
                {0.5649996106299102, 0.5719832740592343, 0.5769996564957394}, 1.0139673692445235);
}

TEST_CASE("batch norm: names, options") {
  const BatchNorm2d norm(3);
  CHECK(test::names(norm.named_parameters()) == Texts{"weight", "bias"});
  CHECK(test::names(norm.named_buffers()) == Texts{"running_mean", "running_var", "num_batches_tracked"});
  CHECK(norm.state_dict().size() == 5);
  CHECK(norm.weight.requires_grad());
  CHECK(BatchNorm1d(3, {.affine = false}).parameters().empty());
  const BatchNorm1d untracked(3, {.track_running_stats = false});
  CHECK(untracked.named_buffers().empty());
  const Tensor x = randn({4, 3});
  const Tensor trained = untracked(x);
  const Evaluation evaluation;
  CHECK(largest_difference(untracked(x), trained) == 0);
}

TEST_CASE("batch norm: an empty batch and a batch of one value") {
  const BatchNorm2d norm(3);
  CHECK(norm(zeros({0, 3, 2, 2})).shape() == Shape{0, 3, 2, 2});
  CHECK(values(norm.running_var) == Values(3, 1));
  CHECK(norm.num_batches_tracked.item() == 1);
  CHECK_THROWS_WITH_AS(norm(zeros({1, 3, 1, 1})), doctest::Contains("one value in each channel"), Error);
  CHECK(norm.num_batches_tracked.item() == 1);
  CHECK_THROWS_WITH_AS(norm(zeros({2, 3})), doctest::Contains("it must have 4 dimensions"), Error);
  CHECK_THROWS_AS(norm(zeros({2, 4, 2, 2})), Error);
}

TEST_CASE("batch norm obeys the contract of modules") {
  for (const ModuleReport& report : {check_module([] { return BatchNorm2d(2); }, {randn({3, 2, 2, 2})}),
                                     check_module([] { return BatchNorm1d(3); }, {randn({4, 3})})})
    CHECK_MESSAGE(report.ok(), to_string(report));
}
