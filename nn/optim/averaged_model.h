#pragma once

#include "nn/module.h"

/// The mean of a model over its training.
namespace heed {

/// Options of AveragedModel.
struct AveragedModelOptions {
  std::optional<double> ema_decay = {};  ///< of an exponential moving average, in [0, 1]; else the plain mean
};

/// Averages the weights of a model at several points of its training, such as the ends of the last epochs.
/// The mean often generalizes better than the last weights (stochastic weight averaging, Izmailov et al.,
/// 2018). At point n + 1, or, with ema_decay, at each point after the first (exponential moving average):
///
///   mean <- mean + (p - mean) / (n + 1)
///   mean <- mean + (p - mean) (1 - ema_decay)
///
///   AveragedModel averaged(model);
///   for (...) { ...; if (late) averaged.update_parameters(model); }
///   model.load_state_dict(averaged.module());
///
/// Averages parameters and floating buffers, and copies other buffers from the last point. A copy is
/// independent. State dict: n_averaged, module.*
class AveragedModel {
 public:
  /// Starts from the current values of the model, which the first update replaces.
  explicit AveragedModel(const Module& model, const AveragedModelOptions& options = {});

  /// Adds the current values of the model to the mean. If a name, a shape or a dtype differs, throws and
  /// changes nothing.
  void update_parameters(const Module& model);

  /// The number of updates.
  int64_t n_averaged() const { return n_averaged_; }
  /// The mean, for load_state_dict of a model. Shares the values: clone them to keep a copy.
  const StateDict& module() const { return mean_; }

  StateDict state_dict() const;
  /// Resumes from a state. If a name, a shape or a dtype does not fit, throws and changes nothing.
  void load_state_dict(const StateDict& state);

 private:
  std::optional<double> ema_decay_;
  int64_t n_averaged_ = 0;
  StateDict mean_;
};

}  // namespace heed
