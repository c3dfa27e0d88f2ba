#pragma once

#include <cmath>
#include <numbers>

#include "nn/optim/optimizer.h"

/// Learning rates that change as training goes on.
namespace heed {

/// Sets the learning rates of an optimizer as training goes on. The rate of a group at epoch t is a formula
/// of t and of the rate `base` that the group started with; epoch 0 is in force from construction, and
/// `step()`, called after the optimizer's, goes on to the next.
///
///   CosineAnnealingLR schedule(optimizer, epochs);
///   for (...) { ...; optimizer.step(); schedule.step(); }
///
/// A step that throws, because a rate would be negative or the optimizer is gone, changes nothing.
class Schedule {
 public:
  /// rate(t, base, group) -> learning rate
  using Rate = std::function<double(double t, double base, size_t group)>;

  /// The rates of epoch 0 are in force from here on.
  Schedule(Optimizer& optimizer, Rate rate);
  virtual ~Schedule() = default;
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  /// Goes on to the next epoch.
  void step() { set_epoch(epoch_ + 1); }
  /// t, the epoch in force.
  int64_t epoch() const { return epoch_; }
  /// Goes straight to an epoch, as when training is resumed. Errors: below 0.
  void set_epoch(int64_t epoch) { prepare_epoch(epoch).commit(); }
  /// The first phase of set_epoch: does everything that may throw.
  virtual PreparedLoad prepare_epoch(int64_t epoch);

 protected:
  /// An Error when it is gone.
  Optimizer& optimizer() const;
  /// Throws unless `value`, an option of a schedule, is at least 1; returns it as a number to divide by.
  static double positive(const char* schedule, const char* name, int64_t value);

 private:
  std::weak_ptr<Optimizer> optimizer_;
  Rate rate_;
  std::vector<double> base_;
  int64_t epoch_ = 0;
};

/// base gamma^floor(t / step_size)
struct StepLR : Schedule {
  /// gamma is applied at every step_size-th epoch.
  StepLR(Optimizer& optimizer, int64_t step_size, double gamma = 0.1)
      : Schedule(optimizer, [=](double t, double base, size_t) {
          return base * std::pow(gamma, std::floor(t / positive("StepLR", "step_size", step_size)));
        }) {}
};

/// base gamma^(number of milestones at or before t)
struct MultiStepLR : Schedule {
  /// gamma is applied at the milestones.
  MultiStepLR(Optimizer& optimizer, const std::vector<int64_t>& milestones, double gamma = 0.1)
      : Schedule(optimizer, [=](double t, double base, size_t) {
          for (const int64_t milestone : milestones)
            if (static_cast<double>(milestone) <= t) base *= gamma;
          return base;
        }) {}
};

/// base gamma^t
struct ExponentialLR : Schedule {
  /// gamma is applied at every epoch.
  ExponentialLR(Optimizer& optimizer, double gamma)
      : Schedule(optimizer, [=](double t, double base, size_t) { return base * std::pow(gamma, t); }) {}
};

/// base (start_factor + (end_factor - start_factor) min(1, t / total_iters))
struct LinearLR : Schedule {
  /// The factors at epoch 0 and from total_iters on.
  explicit LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1,
                    int64_t total_iters = 5)
      : Schedule(optimizer, [=](double t, double base, size_t) {
          const double part = std::min(1.0, t / positive("LinearLR", "total_iters", total_iters));
          return base * (start_factor + (end_factor - start_factor) * part);
        }) {}
};

/// eta_min + (base - eta_min) (1 + cos(pi t / T_max)) / 2
struct CosineAnnealingLR : Schedule {
  /// Down to eta_min in T_max epochs, and up again.
  CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min = 0)
      : Schedule(optimizer, [=](double t, double base, size_t) {
          const double angle = std::numbers::pi * t / positive("CosineAnnealingLR", "T_max", T_max);
          return eta_min + (base - eta_min) * (1 + std::cos(angle)) / 2;
        }) {}
};

/// base factor(t), with one factor for all groups or one each.
struct LambdaLR : Schedule {
  using Factor = std::function<double(int64_t t)>;  ///< factor(t)
  /// One factor for all groups.
  LambdaLR(Optimizer& optimizer, const Factor& factor)
      : LambdaLR(optimizer, std::vector(optimizer.groups(), factor)) {}
  /// One factor for each group.
  LambdaLR(Optimizer& optimizer, const std::vector<Factor>& factors)
      : Schedule(optimizer, [=](double t, double base, size_t group) {
          check(group < factors.size(), "LambdaLR: there are ", factors.size(), " factors and more groups");
          return base * factors[group](static_cast<int64_t>(t));
        }) {}
};

/// base min(1, (t + 1) / steps)
struct WarmupLR : Schedule {
  /// How many steps the rate rises.
  WarmupLR(Optimizer& optimizer, int64_t steps)
      : Schedule(optimizer, [=](double t, double base, size_t) {
          return base * std::min(1.0, (t + 1) / positive("WarmupLR", "steps", steps));
        }) {}
};

/// base width^-1/2 min((t + 1)^-1/2, (t + 1) warmup^-3/2): the rate of "Attention is all you need"
struct NoamLR : Schedule {
  /// The width of the model, and how many steps the rate rises.
  NoamLR(Optimizer& optimizer, int64_t width, int64_t warmup)
      : Schedule(optimizer, [=](double t, double base, size_t) {
          const double rise = (t + 1) * std::pow(positive("NoamLR", "warmup", warmup), -1.5);
          return base / std::sqrt(positive("NoamLR", "width", width)) * std::min(1 / std::sqrt(t + 1), rise);
        }) {}
};

/// Choices of OneCycleLR.
struct OneCycleOptions {
  int64_t total_steps;            ///< of the cycle, at least 2
  double pct_start = 0.3;         ///< the part of the steps in which the rate rises
  bool linear = false;            ///< anneal along a line instead of a cosine
  bool cycle_momentum = true;     ///< whether the momentum changes too
  double base_momentum = 0.85;    ///< where the rate is largest
  double max_momentum = 0.95;     ///< where the rate is smallest
  double div_factor = 25;         ///< the first rate is max_lr / div_factor
  double final_div_factor = 1e4;  ///< the last is the first / final_div_factor
  bool three_phase = false;       ///< down as fast as up, then to the last rate
};

/// Up to max_lr, then down to almost nothing; the momentum runs the other way (Smith and Topin, 2017).
///
///   first = max_lr / div_factor,  last = first / final_div_factor,  up = pct_start total_steps - 1
///   from first to max_lr at t = up, from there to last at t = total_steps - 1
///   each by  a + (b - a) (1 - cos(pi part)) / 2,  or, linear, by  a + (b - a) part
///
/// max_lr is one for all groups or one each. Errors: a step beyond total_steps. An optimizer without momentum
/// cycles its rate alone.
class OneCycleLR : public Schedule {
 public:
  /// One max_lr for all groups.
  OneCycleLR(Optimizer& optimizer, double max_lr, const OneCycleOptions& options)
      : OneCycleLR(optimizer, std::vector<double>(optimizer.groups(), max_lr), options) {}
  /// One max_lr for each group.
  OneCycleLR(Optimizer& optimizer, std::vector<double> max_lr, const OneCycleOptions& options);
  PreparedLoad prepare_epoch(int64_t epoch) override;

 private:
  OneCycleOptions options_;
};

}  // namespace heed
