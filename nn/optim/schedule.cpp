#include "nn/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heed {
namespace {

double real(int64_t n) { return static_cast<double>(n); }

void check_positive(const char* schedule, const char* name, int64_t value) {
  check(value > 0, schedule, ": ", name, " is ", value, "; it must be at least 1");
}

}  // namespace

Schedule::Schedule(Optimizer& optimizer, Rate rate) : optimizer_(optimizer), rate_(std::move(rate)) {
  for (size_t group = 0; group < optimizer.groups(); ++group) base_.push_back(optimizer.lr(group));
  Schedule::set_epoch(0);
}

void Schedule::set_epoch(int64_t epoch) {
  check(epoch >= 0, "set_epoch: ", epoch, " is not an epoch; they count from 0");
  check(optimizer_.groups() == base_.size(), "schedule: the optimiser has ", optimizer_.groups(),
        " groups now and had ", base_.size(), "; make the schedule after the last group");
  epoch_ = epoch;
  for (size_t group = 0; group < base_.size(); ++group)
    optimizer_.set_lr(group, rate_(epoch, base_[group], group));
}

StepLR::StepLR(Optimizer& optimizer, int64_t step_size, double gamma)
    : Schedule(optimizer, [=](int64_t t, double base, size_t) {
        check_positive("StepLR", "step_size", step_size);
        return base * std::pow(gamma, real(t / step_size));
      }) {}

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma)
    : Schedule(optimizer, [milestones = std::move(milestones), gamma](int64_t t, double base, size_t) {
        const auto passed = std::count_if(milestones.begin(), milestones.end(),
                                          [t](int64_t milestone) { return milestone <= t; });
        return base * std::pow(gamma, real(passed));
      }) {}

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma)
    : Schedule(optimizer, [=](int64_t t, double base, size_t) { return base * std::pow(gamma, real(t)); }) {}

LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor, int64_t total_iters)
    : Schedule(optimizer, [=](int64_t t, double base, size_t) {
        check_positive("LinearLR", "total_iters", total_iters);
        const double part = real(std::min(t, total_iters)) / real(total_iters);
        return base * (start_factor + (end_factor - start_factor) * part);
      }) {}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min)
    : Schedule(optimizer, [=](int64_t t, double base, size_t) {
        check_positive("CosineAnnealingLR", "T_max", T_max);
        return eta_min + (base - eta_min) * (1 + std::cos(std::numbers::pi * real(t) / real(T_max))) / 2;
      }) {}

LambdaLR::LambdaLR(Optimizer& optimizer, Factor factor)
    : Schedule(optimizer,
               [factor = std::move(factor)](int64_t t, double base, size_t) { return base * factor(t); }) {}

LambdaLR::LambdaLR(Optimizer& optimizer, std::vector<Factor> factors)
    : Schedule(optimizer, [factors = std::move(factors)](int64_t t, double base, size_t group) {
        check(group < factors.size(), "LambdaLR: there are ", factors.size(), " factors and more groups");
        return base * factors[group](t);
      }) {}

WarmupLR::WarmupLR(Optimizer& optimizer, int64_t steps)
    : Schedule(optimizer, [=](int64_t t, double base, size_t) {
        check_positive("WarmupLR", "steps", steps);
        return base * std::min(1.0, real(t + 1) / real(steps));
      }) {}

NoamLR::NoamLR(Optimizer& optimizer, int64_t width, int64_t warmup)
    : Schedule(optimizer, [=](int64_t t, double base, size_t) {
        check_positive("NoamLR", "width", width);
        check_positive("NoamLR", "warmup", warmup);
        const double step = real(t + 1);
        return base / std::sqrt(real(width)) *
               std::min(1 / std::sqrt(step), step * std::pow(real(warmup), -1.5));
      }) {}

namespace {

// The cycle runs through rates or momenta first -> most -> last, in two phases; or in three, passing `first`
// again on the way down.
double one_cycle(const OneCycleOptions& o, int64_t t, double first, double most, double last) {
  check(o.total_steps > 1 && o.pct_start >= 0 && o.pct_start <= 1, "OneCycleLR: total_steps is ",
        o.total_steps, ", pct_start ", o.pct_start, "; the first must be at least 2, the second in [0, 1]");
  check(t <= o.total_steps, "OneCycleLR: step ", t, " of a cycle of total_steps = ", o.total_steps, " steps");
  const auto anneal = [&](double from, double to, double part) {
    return o.linear ? from + (to - from) * part
                    : to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * part));
  };
  const double end = real(o.total_steps - 1);
  const double up = o.pct_start * real(o.total_steps) - 1;
  const double now = std::min(real(t), end);  // a last step after the cycle changes nothing
  if (now <= up) return up > 0 ? anneal(first, most, now / up) : most;
  if (!o.three_phase) return anneal(most, last, (now - up) / (end - up));
  const double down = 2 * o.pct_start * real(o.total_steps) - 2;
  if (now <= down) return anneal(most, first, (now - up) / (down - up));
  return anneal(first, last, (now - down) / (end - down));
}

}  // namespace

OneCycleLR::OneCycleLR(Optimizer& optimizer, double max_lr, const OneCycleOptions& options)
    : OneCycleLR(optimizer, std::vector<double>(optimizer.groups(), max_lr), options) {}

OneCycleLR::OneCycleLR(Optimizer& optimizer, std::vector<double> max_lr, const OneCycleOptions& options)
    : Schedule(optimizer,
               [max_lr = std::move(max_lr), options](int64_t t, double, size_t group) {
                 check(group < max_lr.size(), "OneCycleLR: there are ", max_lr.size(),
                       " values of max_lr and more groups");
                 const double first = max_lr[group] / options.div_factor;
                 return one_cycle(options, t, first, max_lr[group], first / options.final_div_factor);
               }),
      options_(options) {
  OneCycleLR::set_epoch(0);
}

void OneCycleLR::set_epoch(int64_t epoch) {
  Schedule::set_epoch(epoch);
  if (!options_.cycle_momentum) return;
  for (size_t group = 0; group < optimizer_.groups(); ++group)
    if (double* momentum = optimizer_.momentum(group))
      *momentum =
          one_cycle(options_, epoch, options_.max_momentum, options_.base_momentum, options_.max_momentum);
}

}  // namespace heed
