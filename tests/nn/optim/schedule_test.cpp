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

TEST_CASE("warm restarts and sequences of schedules: PyTorch's rates") {
  check_close(rates(8, schedule<CosineAnnealingWarmRestarts>(3, 1, 0.1)),
              {1, 0.775, 0.325, 1, 0.775, 0.325, 1, 0.775});
  check_close(
      rates(15, schedule<CosineAnnealingWarmRestarts>(2, 2, 0.1)),
      {1, 0.55, 1, 0.8681980515339464, 0.55, 0.23180194846605365, 1, 0.9657457896300791, 0.8681980515339464,
       0.7222075445642904, 0.55, 0.3777924554357096, 0.23180194846605365, 0.13425421036992097, 1});
  check_close(rates(12,
                    [](Optimizer& o) {
                      const LinearLR up(o, 0.1, 1, 4);
                      const CosineAnnealingLR down(o, 6);
                      const ExponentialLR tail(o, 0.5);
                      return std::make_unique<SequentialLR>(
                          o, std::vector<const Schedule*>{&up, &down, &tail}, std::vector<int64_t>{4, 8});
                    }),
              {0.1, 0.325, 0.55, 0.775, 1, 0.9330127018922194, 0.75, 0.5, 1, 0.5, 0.25, 0.125});
  check_close(rates(10,
                    [](Optimizer& o) {
                      const CosineAnnealingWarmRestarts second(o, 2, 2);  // in another order of creation
                      const StepLR first(o, 2, 0.5);
                      return std::make_unique<SequentialLR>(o, std::vector<const Schedule*>{&first, &second},
                                                            std::vector<int64_t>{3});
                    }),
              {1, 1, 0.5, 1, 0.5, 1, 0.8535533905932737, 0.5, 0.14644660940672627, 1});
}

TEST_CASE("SequentialLR: the base is the rate before all its schedules; invalid arguments") {
  const Tensor a = full({1}, 0).requires_grad_(), b = full({1}, 0).requires_grad_();
  SGD optimizer({{{a}, {.lr = 1}}, {{b}, {.lr = 10}}}), other({a}, {.lr = 1});
  WarmupLR warmup(optimizer, 4);
  StepLR steps(optimizer, 1, 0.5);
  const OneCycleLR cycle(optimizer, 1, {.total_steps = 11});
  const StepLR elsewhere(other, 1);
  SequentialLR schedule(optimizer, {&warmup, &steps}, {4});
  CHECK(optimizer.lr(1) == 2.5);
  schedule.set_epoch(5);
  CHECK(optimizer.lr(0) == 0.5);
  CHECK(optimizer.lr(1) == 5);
  CHECK_ERROR(SequentialLR(optimizer, {&warmup, &steps}, {}),
              "SequentialLR: there are 2 schedules and 0 milestones; there must be one milestone between any "
              "two schedules");
  CHECK_ERROR(SequentialLR(optimizer, {&warmup, &steps, &steps}, {4, 4}),
              "SequentialLR: milestone 4 follows 4; they must rise from 1 on");
  CHECK_ERROR(SequentialLR(optimizer, {&warmup, &elsewhere}, {4}),
              "SequentialLR: schedule 1 is of another optimizer");
  CHECK_ERROR_HAS(SequentialLR(optimizer, {&warmup, &cycle}, {4}), "schedule 1 changes the momentum");
  CHECK(optimizer.lr(1) == 5);
}

TEST_CASE("ReduceLROnPlateau: PyTorch's rates and state") {
  const auto check_rates = [](const ReduceLROnPlateauOptions& options, const Values& want,
                              const Values& state) {
    const Tensor p = full({1}, 0).requires_grad_();
    SGD optimizer({p}, {.lr = 1});
    ReduceLROnPlateau schedule(optimizer, options);
    Values got;
    for (const double value :
         {1.0, 0.9, 0.95, 0.89995, 0.91, 0.92, 0.93, 0.94, 0.8, 0.81, 0.82, 0.83, 0.84, kNaN, 0.85, 0.86}) {
      ReduceLROnPlateau resumed(optimizer, options);
      resumed.load_state_dict(schedule.state_dict());
      schedule = resumed;
      schedule.step(value);
      got.push_back(optimizer.lr());
    }
    check_close(got, want);
    const StateDict final_state = schedule.state_dict();
    check_close({final_state.at("best").item(), final_state.at("num_bad_epochs").item(),
                 final_state.at("cooldown_counter").item(), final_state.at("last_epoch").item()},
                state);
  };
  check_rates({.patience = 1},
              {1, 1, 1, 0.1, 0.1, 0.01, 0.01, 1e-3, 1e-3, 1e-3, 1e-4, 1e-4, 1e-5, 1e-5, 1e-6, 1e-6},
              {0.8, 1, 0, 16});
  check_rates(
      {.factor = 0.5, .patience = 0, .cooldown = 2},
      {1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.125, 0.125, 0.125, 0.0625, 0.0625, 0.0625, 0.03125},
      {0.8, 0, 2, 16});
  check_rates({.maximize = true, .patience = 1, .threshold = 0.05, .relative = false, .min_lr = 0.05},
              {1, 1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05},
              {1, 1, 0, 16});
  check_rates({.factor = 0.3, .patience = 1, .threshold = 0.01, .relative = false},
              {1, 1, 1, 0.3, 0.3, 0.09, 0.09, 0.027, 0.027, 0.027, 0.0081, 0.0081, 0.00243, 0.00243, 0.000729,
               0.000729},
              {0.8, 1, 0, 16});
  check_rates({.maximize = true, .patience = 2, .threshold = 0.1},
              {1, 1, 1, 0.1, 0.1, 0.1, 0.01, 0.01, 0.01, 1e-3, 1e-3, 1e-3, 1e-4, 1e-4, 1e-4, 1e-5},
              {1, 0, 0, 16});
  check_rates({.patience = 0, .eps = 0.2},
              {1, 1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, {0.8, 0, 0, 16});
}

TEST_CASE("ReduceLROnPlateau: invalid options and states") {
  const Tensor p = full({1}, 0).requires_grad_();
  auto optimizer = std::make_unique<SGD>(Tensors{p}, SGDOptions{.lr = 1});
  ReduceLROnPlateau schedule(*optimizer);
  CHECK_ERROR_HAS(ReduceLROnPlateau(*optimizer, {.factor = 1}), "the factor must be between 0 and 1");
  CHECK_ERROR_HAS(schedule.load_state_dict({}), "ReduceLROnPlateau: load_state_dict: the state must be best");
  StateDict state = schedule.state_dict();
  state["best"] = tensor(1, int64);
  CHECK_ERROR_HAS(schedule.load_state_dict(state), "one float64");
  CHECK(schedule.best() == kInf);
  optimizer.reset();
  CHECK_ERROR_HAS(schedule.step(1), "its optimizer is gone");
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
