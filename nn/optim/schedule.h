#pragma once

#include "nn/optim/optimizer.h"

/// Learning rates that change during training.
namespace heed {

/// Sets the learning rates of an optimizer. The rate of a group at epoch t is a formula of t and of `base`,
/// the rate of the group when the schedule was created. The constructor sets the rates of epoch 0, and
/// step(), called after the optimizer's, those of the next epoch.
///
///   CosineAnnealingLR schedule(optimizer, epochs);
///   for (...) { ...; optimizer.step(); schedule.step(); }
///
/// If a rate is negative or the optimizer was destroyed, a step throws and changes nothing.
class Schedule {
 public:
  using Rate = std::function<double(double t, double base, size_t group)>;
  using Momentum = std::function<double(double t)>;  ///< for all groups

  /// Without a formula for the momentum, or for optimizers without momentum, only the rates change.
  Schedule(Optimizer& optimizer, Rate rate, Momentum momentum = nullptr);
  virtual ~Schedule() = default;
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  /// Moves to the next epoch.
  void step() { set_epoch(epoch_ + 1); }
  /// The current epoch t.
  int64_t epoch() const { return epoch_; }
  /// Moves to an epoch. Throws if it is negative.
  void set_epoch(int64_t epoch) { prepare_epoch(epoch).commit(); }
  /// The first phase of set_epoch: does everything that may throw.
  PreparedLoad prepare_epoch(int64_t epoch);

 private:
  friend struct SequentialLR;
  std::weak_ptr<Optimizer> optimizer_;
  Rate rate_;
  Momentum momentum_;
  std::vector<double> base_;
  int64_t epoch_ = 0;
  uint64_t created_;  // rises from one schedule to the next
};

/// base gamma^floor(t / step_size)
struct StepLR : Schedule {
  StepLR(Optimizer& optimizer, int64_t step_size, double gamma = 0.1);
};

/// base gamma^(number of milestones at or before t)
struct MultiStepLR : Schedule {
  MultiStepLR(Optimizer& optimizer, const std::vector<int64_t>& milestones, double gamma = 0.1);
};

/// base gamma^t
struct ExponentialLR : Schedule {
  ExponentialLR(Optimizer& optimizer, double gamma);
};

/// base (start_factor + (end_factor - start_factor) min(1, t / total_iters))
struct LinearLR : Schedule {
  explicit LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1,
                    int64_t total_iters = 5);
};

/// eta_min + (base - eta_min) (1 + cos(pi t / T_max)) / 2
struct CosineAnnealingLR : Schedule {
  CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min = 0);
};

/// eta_min + (base - eta_min) (1 + cos(pi t' / T)) / 2 at step t' of a cycle of T steps: T_0 in the first
/// cycle, T_mult times as many in each one after it (Loshchilov and Hutter, 2017).
struct CosineAnnealingWarmRestarts : Schedule {
  CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t T_0, int64_t T_mult = 1, double eta_min = 0);
};

/// One schedule after another. At a milestone the next one begins with its epoch 0:
///
///   LinearLR warmup(optimizer, 0.1, 1, 5);
///   CosineAnnealingLR decay(optimizer, 95);
///   SequentialLR schedule(optimizer, {&warmup, &decay}, {5});
///
/// Only `schedule` is stepped. Its base is that of the schedule that was created first, so the others do not
/// count as changes of the rate. Errors: a number of milestones other than that of the schedules less one, or
/// milestones that do not rise; schedules of another optimizer, or of its momentum.
struct SequentialLR : Schedule {
  SequentialLR(Optimizer& optimizer, const std::vector<const Schedule*>& schedules,
               const std::vector<int64_t>& milestones);
};

/// base factor(t), with one factor for all groups or one for each.
struct LambdaLR : Schedule {
  using Factor = std::function<double(int64_t t)>;
  LambdaLR(Optimizer& optimizer, const Factor& factor)
      : LambdaLR(optimizer, std::vector(optimizer.groups(), factor)) {}
  LambdaLR(Optimizer& optimizer, const std::vector<Factor>& factors);
};

/// base min(1, (t + 1) / steps)
struct WarmupLR : Schedule {
  WarmupLR(Optimizer& optimizer, int64_t steps);
};

/// base width^-1/2 min((t + 1)^-1/2, (t + 1) warmup^-3/2): the rate of "Attention is all you need", where
/// width is the size of the model's embeddings and warmup the number of steps in which the rate rises.
struct NoamLR : Schedule {
  NoamLR(Optimizer& optimizer, int64_t width, int64_t warmup);
};

/// Options of OneCycleLR.
struct OneCycleOptions {
  int64_t total_steps;            ///< of the cycle, at least 2
  double pct_start = 0.3;         ///< fraction of the steps in which the rate rises
  bool linear = false;            ///< anneal along a line instead of a cosine
  bool cycle_momentum = true;     ///< whether the momentum changes too
  double base_momentum = 0.85;    ///< where the rate is largest
  double max_momentum = 0.95;     ///< where the rate is smallest
  double div_factor = 25;         ///< the first rate is max_lr / div_factor
  double final_div_factor = 1e4;  ///< the last is the first / final_div_factor
  bool three_phase = false;  ///< returns to the first rate at the speed of the rise, then falls to the last
};

/// Rises to max_lr and falls to almost 0, while the momentum falls and rises (Smith and Topin, 2017).
///
///   first = max_lr / div_factor,  last = first / final_div_factor,  up = pct_start total_steps - 1
///   from first to max_lr at t = up, and from there to last at t = total_steps - 1,
///   each by  a + (b - a) (1 - cos(pi part)) / 2,  or, linear, by  a + (b - a) part
///
/// There is one max_lr for all groups or one for each. Throws at a step beyond total_steps. If the optimizer
/// has no momentum, only the rate changes.
struct OneCycleLR : Schedule {
  OneCycleLR(Optimizer& optimizer, double max_lr, const OneCycleOptions& options)
      : OneCycleLR(optimizer, std::vector(optimizer.groups(), max_lr), options) {}
  OneCycleLR(Optimizer& optimizer, const std::vector<double>& max_lr, const OneCycleOptions& options);
};

/// Options of ReduceLROnPlateau.
struct ReduceLROnPlateauOptions {
  bool maximize = false;    ///< whether a larger value is better
  double factor = 0.1;      ///< of the learning rate, below 1
  int64_t patience = 10;    ///< number of epochs without improvement that change nothing
  double threshold = 1e-4;  ///< how much better than the best value an improvement is
  bool relative = true;     ///< whether the threshold is a fraction of the best value
  int64_t cooldown = 0;     ///< number of epochs after a reduction that do not count
  double min_lr = 0;        ///< the smallest learning rate
  double eps = 1e-8;        ///< a smaller reduction changes nothing
};

/// Multiplies the learning rates by a factor when a value, such as the loss of a validation, has stopped
/// improving. Is called once in an epoch with that value:
///
///   ReduceLROnPlateau schedule(optimizer, {.patience = 3});
///   for (...) { ...; schedule.step(validate()); }
///
/// The learning rates are in the state of the optimizer. State dict: best, num_bad_epochs, cooldown_counter,
/// last_epoch.
class ReduceLROnPlateau {
 public:
  /// Keeps the learning rates as they are.
  explicit ReduceLROnPlateau(Optimizer& optimizer, const ReduceLROnPlateauOptions& options = {});

  /// Ends an epoch. NaN is no improvement.
  void step(double value);
  double best() const { return best_; }                   ///< The best value so far.
  int64_t num_bad_epochs() const { return bad_epochs_; }  ///< Epochs since the last improvement or reduction.

  StateDict state_dict() const;  ///< The counts and the best value.
  /// Resumes from a state. If a name or dtype does not fit, throws and changes nothing.
  void load_state_dict(const StateDict& state);

 private:
  std::weak_ptr<Optimizer> optimizer_;
  ReduceLROnPlateauOptions options_;
  double best_;
  int64_t bad_epochs_ = 0, cooldown_ = 0, epoch_ = 0;
};

}  // namespace heed
