#pragma once

#include <functional>
#include <vector>

#include "nn/optim/optimizer.h"

namespace heed {

/// Sets the learning rates of an optimiser as training goes on. The rate of a group at epoch t is a formula
/// of t and of the rate `base` that the group started with; epoch 0 is in force from construction, and
/// `step()`, called after the optimiser's, goes on to the next.
///
///   CosineAnnealingLR schedule(optimizer, epochs);
///   for (...) { ...; optimizer.step(); schedule.step(); }
class Schedule {
 public:
  /// rate(t, base, group) -> learning rate
  using Rate = std::function<double(int64_t t, double base, size_t group)>;

  Schedule(Optimizer& optimizer, Rate rate);
  virtual ~Schedule() = default;
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  void step() { set_epoch(epoch_ + 1); }
  int64_t epoch() const { return epoch_; }
  /// Goes straight to an epoch, as when training is taken up again.
  virtual void set_epoch(int64_t epoch);

 protected:
  Optimizer& optimizer_;

 private:
  Rate rate_;
  std::vector<double> base_;
  int64_t epoch_ = 0;
};

/// base gamma^floor(t / step_size)
struct StepLR : Schedule {
  StepLR(Optimizer& optimizer, int64_t step_size, double gamma = 0.1);
};

/// base gamma^(number of milestones at or before t)
struct MultiStepLR : Schedule {
  MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma = 0.1);
};

/// base gamma^t
struct ExponentialLR : Schedule {
  ExponentialLR(Optimizer& optimizer, double gamma);
};

/// From base start_factor straight to base end_factor in total_iters epochs, and on at that.
struct LinearLR : Schedule {
  explicit LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1,
                    int64_t total_iters = 5);
};

/// eta_min + (base - eta_min) (1 + cos(pi t / T_max)) / 2
struct CosineAnnealingLR : Schedule {
  CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min = 0);
};

/// base factor(t), with one factor for all groups or one each
struct LambdaLR : Schedule {
  using Factor = std::function<double(int64_t t)>;
  LambdaLR(Optimizer& optimizer, Factor factor);
  LambdaLR(Optimizer& optimizer, std::vector<Factor> factors);
};

/// base min(1, (t + 1) / steps)
struct WarmupLR : Schedule {
  WarmupLR(Optimizer& optimizer, int64_t steps);
};

/// base width^-1/2 min((t + 1)^-1/2, (t + 1) warmup^-3/2): the rate of "Attention is all you need"
struct NoamLR : Schedule {
  NoamLR(Optimizer& optimizer, int64_t width, int64_t warmup);
};

struct OneCycleOptions {
  int64_t total_steps;
  double pct_start = 0.3;  // the part of the steps in which the rate rises
  bool linear = false;     // anneal along a line instead of a cosine
  bool cycle_momentum = true;
  double base_momentum = 0.85;
  double max_momentum = 0.95;
  double div_factor = 25;         // the first rate is max_lr / div_factor
  double final_div_factor = 1e4;  // the last is the first / final_div_factor
  bool three_phase = false;       // down as fast as up, then to the last rate
};

/// Up to max_lr, then down to almost nothing; the momentum runs the other way (Smith and Topin, 2017).
/// max_lr is one for all groups or one each.
class OneCycleLR : public Schedule {
 public:
  OneCycleLR(Optimizer& optimizer, double max_lr, const OneCycleOptions& options);
  OneCycleLR(Optimizer& optimizer, std::vector<double> max_lr, const OneCycleOptions& options);
  void set_epoch(int64_t epoch) override;

 private:
  OneCycleOptions options_;
};

}  // namespace heed
