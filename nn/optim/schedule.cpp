#include "nn/optim/schedule.h"

#include <numbers>

#include "tensor/create.h"

namespace heed {

Schedule::Schedule(Optimizer& optimizer, Rate rate, Momentum momentum)
    : optimizer_(optimizer.weak()), rate_(std::move(rate)), momentum_(std::move(momentum)) {
  static std::atomic<uint64_t> count;
  created_ = ++count;
  for (size_t group = 0; group < optimizer.groups(); ++group) base_.push_back(optimizer.lr(group));
  set_epoch(0);
}

PreparedLoad Schedule::prepare_epoch(int64_t epoch) {
  const std::shared_ptr<Optimizer> own = optimizer_.lock();
  check(own != nullptr, "schedule: its optimizer is gone; it must live as long as the schedule is used");
  check(epoch >= 0, "set_epoch: ", epoch, " is not an epoch; they count from 0");
  check(own->groups() == base_.size(), "schedule: the optimizer has ", own->groups(), " groups now and had ",
        base_.size(), "; make the schedule after the last group");
  const auto t = static_cast<double>(epoch);
  std::vector<double> rates;
  for (const double base : base_) rates.push_back(rate_(t, base, rates.size()));
  const double momentum = momentum_ ? momentum_(t) : 0;
  return PreparedLoad([this, own, epoch, momentum, load_rates = own->prepare_lr(std::move(rates))]() mutable {
    load_rates.commit();
    for (size_t group = 0; momentum_ && group < base_.size(); ++group)
      if (double* const old = own->momentum(group)) *old = momentum;
    epoch_ = epoch;
  });
}

// An option as a number to divide by.
static double positive(const char* schedule, const char* name, int64_t value) {
  check(value > 0, schedule, ": ", name, " is ", value, "; it must be at least 1");
  return static_cast<double>(value);
}

StepLR::StepLR(Optimizer& optimizer, int64_t step_size, double gamma)
    : Schedule(optimizer, [=](double t, double base, size_t) {
        return base * std::pow(gamma, std::floor(t / positive("StepLR", "step_size", step_size)));
      }) {}

MultiStepLR::MultiStepLR(Optimizer& optimizer, const std::vector<int64_t>& milestones, double gamma)
    : Schedule(optimizer, [=](double t, double base, size_t) {
        for (const int64_t milestone : milestones)
          if (static_cast<double>(milestone) <= t) base *= gamma;
        return base;
      }) {}

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma)
    : Schedule(optimizer, [=](double t, double base, size_t) { return base * std::pow(gamma, t); }) {}

LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor, int64_t total_iters)
    : Schedule(optimizer, [=](double t, double base, size_t) {
        const double part = std::min(1.0, t / positive("LinearLR", "total_iters", total_iters));
        return base * (start_factor + (end_factor - start_factor) * part);
      }) {}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min)
    : Schedule(optimizer, [=](double t, double base, size_t) {
        const double angle = std::numbers::pi * t / positive("CosineAnnealingLR", "T_max", T_max);
        return eta_min + (base - eta_min) * (1 + std::cos(angle)) / 2;
      }) {}

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t T_0, int64_t T_mult,
                                                         double eta_min)
    : Schedule(optimizer, [=](double t, double base, size_t) {
        double length = positive("CosineAnnealingWarmRestarts", "T_0", T_0);
        const double growth = positive("CosineAnnealingWarmRestarts", "T_mult", T_mult);
        if (T_mult == 1) t = std::fmod(t, length);
        for (; t >= length; length *= growth) t -= length;
        return eta_min + (base - eta_min) * (1 + std::cos(std::numbers::pi * t / length)) / 2;
      }) {}

SequentialLR::SequentialLR(Optimizer& optimizer, const std::vector<const Schedule*>& schedules,
                           const std::vector<int64_t>& milestones)
    : Schedule(optimizer, [=](double, double base, size_t) { return base; }) {
  check(!schedules.empty() && milestones.size() + 1 == schedules.size(), "SequentialLR: there are ",
        schedules.size(), " schedules and ", milestones.size(),
        " milestones; there must be one milestone between any two schedules");
  for (int64_t before = 0; const int64_t milestone : milestones) {
    check(milestone > before, "SequentialLR: milestone ", milestone, " follows ", before,
          "; they must rise from 1 on");
    before = milestone;
  }
  std::vector<Rate> rates;
  for (const Schedule* schedule : schedules) {
    check(schedule->optimizer_.lock() == optimizer_.lock(), "SequentialLR: schedule ", rates.size(),
          " is of another optimizer");
    check(!schedule->momentum_, "SequentialLR: schedule ", rates.size(),
          " changes the momentum; give it cycle_momentum = false");
    rates.push_back(schedule->rate_);
  }
  base_ = (*std::ranges::min_element(schedules, {}, &Schedule::created_))->base_;
  rate_ = [rates, milestones](double t, double base, size_t group) {
    const size_t now = std::ranges::upper_bound(milestones, t) - milestones.begin();
    return rates[now](now == 0 ? t : t - static_cast<double>(milestones[now - 1]), base, group);
  };
  set_epoch(0);
}

LambdaLR::LambdaLR(Optimizer& optimizer, const std::vector<Factor>& factors)
    : Schedule(optimizer, [=](double t, double base, size_t group) {
        check(group < factors.size(), "LambdaLR: there are ", factors.size(), " factors and more groups");
        return base * factors[group](static_cast<int64_t>(t));
      }) {}

WarmupLR::WarmupLR(Optimizer& optimizer, int64_t steps)
    : Schedule(optimizer, [=](double t, double base, size_t) {
        return base * std::min(1.0, (t + 1) / positive("WarmupLR", "steps", steps));
      }) {}

NoamLR::NoamLR(Optimizer& optimizer, int64_t width, int64_t warmup)
    : Schedule(optimizer, [=](double t, double base, size_t) {
        const double rise = (t + 1) * std::pow(positive("NoamLR", "warmup", warmup), -1.5);
        return base / std::sqrt(positive("NoamLR", "width", width)) * std::min(1 / std::sqrt(t + 1), rise);
      }) {}

// The rate or momentum at step t. It goes from `first` to `peak` and then to `last`. With three phases it
// returns to `first` after the peak.
static double one_cycle(const OneCycleOptions& o, double t, double first, double peak, double last) {
  check(o.total_steps > 1 && o.pct_start >= 0 && o.pct_start <= 1, "OneCycleLR: total_steps is ",
        o.total_steps, ", pct_start ", o.pct_start, "; the first must be at least 2, the second in [0, 1]");
  const auto steps = static_cast<double>(o.total_steps);
  check(t <= steps, "OneCycleLR: step ", t, " of a cycle of total_steps = ", o.total_steps, " steps");
  const auto anneal = [&](double from, double to, double part) {
    return o.linear ? from + (to - from) * part
                    : to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * part));
  };
  const double end = steps - 1, up = o.pct_start * steps - 1;
  const double now = std::min(t, end);  // a step after the end of the cycle changes nothing
  if (now <= up) return up > 0 ? anneal(first, peak, now / up) : peak;
  const double down = o.three_phase ? 2 * up : end;  // the end of the fall
  if (now <= down) return anneal(peak, o.three_phase ? first : last, (now - up) / (down - up));
  return anneal(first, last, (now - down) / (end - down));
}

OneCycleLR::OneCycleLR(Optimizer& optimizer, const std::vector<double>& max_lr, const OneCycleOptions& o)
    : Schedule(
          optimizer,
          [=](double t, double, size_t group) {
            check(group < max_lr.size(), "OneCycleLR: there are ", max_lr.size(),
                  " values of max_lr and more groups");
            const double first = max_lr[group] / o.div_factor;
            return one_cycle(o, t, first, max_lr[group], first / o.final_div_factor);
          },
          !o.cycle_momentum ? nullptr : Momentum([=](double t) {
            return one_cycle(o, t, o.max_momentum, o.base_momentum, o.max_momentum);
          })) {}

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, const ReduceLROnPlateauOptions& options)
    : optimizer_(optimizer.weak()), options_(options), best_(options.maximize ? -INFINITY : INFINITY) {
  check(options.factor > 0 && options.factor < 1 && options.patience >= 0 && options.cooldown >= 0 &&
            options.min_lr >= 0,
        "ReduceLROnPlateau: factor is ", options.factor, ", patience ", options.patience, ", cooldown ",
        options.cooldown, ", min_lr ", options.min_lr,
        "; the factor must be between 0 and 1, the others must not be negative");
}

void ReduceLROnPlateau::step(double value) {
  const ReduceLROnPlateauOptions& o = options_;
  const std::shared_ptr<Optimizer> own = optimizer_.lock();
  check(own != nullptr, "schedule: its optimizer is gone; it must live as long as the schedule is used");
  const double sign = o.maximize ? 1 : -1;
  const double bound = o.relative ? best_ * (1 + sign * o.threshold) : best_ + sign * o.threshold;
  const bool better = o.maximize ? value > bound : value < bound;
  const bool cooling = cooldown_ > 0;
  const bool reduces = !better && !cooling && bad_epochs_ + 1 > o.patience;
  for (size_t group = 0; group < own->groups(); ++group) {
    const double lr = own->lr(group), next = std::max(lr * o.factor, o.min_lr);
    if (reduces && lr - next > o.eps) own->set_lr(group, next);  // does not throw: next >= 0
  }
  if (better) best_ = value;
  bad_epochs_ = better || cooling || reduces ? 0 : bad_epochs_ + 1;
  cooldown_ = reduces ? o.cooldown : cooldown_ - cooling;
  ++epoch_;
}

StateDict ReduceLROnPlateau::state_dict() const {
  return {{"best", tensor(best_, float64)},
          {"num_bad_epochs", tensor(bad_epochs_, int64)},
          {"cooldown_counter", tensor(cooldown_, int64)},
          {"last_epoch", tensor(epoch_, int64)}};
}

void ReduceLROnPlateau::load_state_dict(const StateDict& state) {
  const auto fits = [](const auto& given, const auto& own) {
    const auto& [name, x] = given;
    return name == own.first && x.dtype() == own.second.dtype() && x.numel() == 1;
  };
  check(std::ranges::equal(state, state_dict(), fits),
        "ReduceLROnPlateau: load_state_dict: the state must be best, one float64, and num_bad_epochs, "
        "cooldown_counter and last_epoch, one int64 each");
  best_ = state.at("best").item();
  bad_epochs_ = state.at("num_bad_epochs").item<int64_t>();
  cooldown_ = state.at("cooldown_counter").item<int64_t>();
  epoch_ = state.at("last_epoch").item<int64_t>();
}

}  // namespace heed
