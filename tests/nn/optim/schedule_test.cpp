#include "nn/optim/schedule.h"

#include "nn/optim/adaptive.h"
#include "nn/optim/sgd.h"
#include "tests/support/expect.h"

// The rates of `count` epochs of the schedule that make(optimizer) returns, from lr = 1.
template <class Make>
static Values rates(int count, Make&& make) {
  const Tensor p = full({1}, 0).requires_grad_();
  SGD optimizer({p}, {.lr = 1});
  auto schedule = make(optimizer);
  Values result;
  for (int t = 0; t < count; ++t, schedule->step()) result.push_back(optimizer.lr());
  return result;
}

static void check_close(const Values& got, const Values& want) {
  CHECK(largest_difference(got, want) < 1e-12);
}

template <class Kind, class... Args>
static auto schedule(const Args&... args) {
  return [=](Optimizer& optimizer) { return std::make_unique<Kind>(optimizer, args...); };
}

TEST_CASE("schedules: rates by hand, for schedules without reference cases") {
  check_close(rates(5, schedule<MultiStepLR>(std::vector<int64_t>{1, 3}, 0.5)), {1, 0.5, 0.5, 0.25, 0.25});
  check_close(rates(5, schedule<CosineAnnealingLR>(4, 0.2)),
              {1, 0.6 + 0.4 * std::numbers::sqrt2 / 2, 0.6, 0.6 - 0.4 * std::numbers::sqrt2 / 2, 0.2});
  check_close(rates(6, schedule<WarmupLR>(4)), {0.25, 0.5, 0.75, 1, 1, 1});
  const auto noam = rates(8, schedule<NoamLR>(16, 4));
  check_close(noam, {1 / 32.0, 2 / 32.0, 3 / 32.0, 4 / 32.0, 0.25 / std::sqrt(5.0), 0.25 / std::sqrt(6.0),
                     0.25 / std::sqrt(7.0), 0.25 / std::sqrt(8.0)});
}

TEST_CASE("schedules: each group has its own base; set_epoch") {
  const Tensor a = full({1}, 0).requires_grad_(), b = full({1}, 0).requires_grad_();
  SGD optimizer({{{a}, {.lr = 1}}, {{b}, {.lr = 10}}});
  StepLR schedule(optimizer, 3, 0.1);
  schedule.set_epoch(7);
  CHECK(schedule.epoch() == 7);
  CHECK(optimizer.lr(0) == doctest::Approx(0.01));
  CHECK(optimizer.lr(1) == doctest::Approx(0.1));
  CHECK_ERROR(schedule.set_epoch(-1), "set_epoch: -1 is not an epoch; they count from 0");
  CHECK_ERROR(StepLR(optimizer, 0), "StepLR: step_size is 0; it must be at least 1");
  LambdaLR each(optimizer, {[](int64_t) { return 1.0; }, [](int64_t) { return 0.5; }});
  CHECK(optimizer.lr(1) == doctest::Approx(0.05));
}

TEST_CASE("OneCycleLR: each group has its own rate, and all have the same momentum") {
  const Tensor a = full({1}, 0).requires_grad_(), b = full({1}, 0).requires_grad_();
  Adam optimizer({{{a}, {}}, {{b}, {.betas = {0.5, 0.9}}}});
  OneCycleLR schedule(optimizer, Values{1, 2}, {.total_steps = 11, .pct_start = 0.3, .linear = true});
  schedule.set_epoch(1);
  for (const size_t group : {0u, 1u}) {
    CHECK(optimizer.lr(group) == doctest::Approx((group + 1.0) * (0.04 + 0.96 / 2.3)));
    CHECK(optimizer.options(group).betas[0] == doctest::Approx(0.95 - 0.1 / 2.3));
  }
}

TEST_CASE("OneCycleLR: the rate rises and falls, the momentum falls and rises") {
  const Tensor p = full({1}, 0).requires_grad_();
  Adam optimizer({p});
  OneCycleLR schedule(optimizer, 1, {.total_steps = 11, .pct_start = 0.3, .linear = true});
  const auto check_at = [&](OneCycleLR& cycle, int64_t epoch, double lr, double momentum) {
    cycle.set_epoch(epoch);
    CHECK(optimizer.lr() == doctest::Approx(lr));
    CHECK(optimizer.options().betas[0] == doctest::Approx(momentum));
  };
  // The peak is at step 0.3 * 11 - 1 = 2.3, the end at 10.
  check_at(schedule, 0, 0.04, 0.95);
  check_at(schedule, 1, 0.04 + 0.96 / 2.3, 0.95 - 0.1 / 2.3);
  check_at(schedule, 10, 0.04 / 1e4, 0.95);
  schedule.step();  // after the last step of the optimizer
  CHECK_ERROR(schedule.step(), "OneCycleLR: step 12 of a cycle of total_steps = 11 steps");

  OneCycleLR three(optimizer, 1, {.total_steps = 12, .pct_start = 0.25, .linear = true, .three_phase = true});
  check_at(three, 2, 1, 0.85);
  check_at(three, 4, 0.04, 0.95);
  check_at(three, 9, 0.04 + (0.04 / 1e4 - 0.04) * 5 / 7, 0.95);  // the third phase runs from step 4 to 11
  check_at(three, 11, 0.04 / 1e4, 0.95);

  OneCycleLR cosine(optimizer, 1, {.total_steps = 20, .pct_start = 0.25, .cycle_momentum = false});
  check_at(cosine, 2, 1 + (0.04 - 1) / 2, 0.95);
}

TEST_CASE("schedules: a step that throws changes nothing; a destroyed optimizer throws") {
  const Tensor a = full({1}, 0).requires_grad_(), b = full({1}, 0).requires_grad_();
  auto optimizer =
      std::make_unique<SGD>(std::vector<ParamGroup<SGDOptions>>{{{a}, {.lr = 1}}, {{b}, {.lr = 1}}});
  LambdaLR schedule(*optimizer, {[](int64_t t) { return 0.5 / static_cast<double>(t + 1); },
                                 [](int64_t t) { return 1 - static_cast<double>(t); }});
  schedule.step();
  CHECK_ERROR(schedule.step(), "SGD: a learning rate of -1; it must be at least 0");
  CHECK(schedule.epoch() == 1);
  CHECK(optimizer->lr(0) == 0.25);
  optimizer.reset();
  CHECK_ERROR(schedule.step(),
              "schedule: its optimizer is gone; it must live as long as the schedule is used");
}
