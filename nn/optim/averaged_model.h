#pragma once

#include "nn/module.h"

/// The mean of a model over its training.
namespace heed {

/// The mean of what a model was at several moments of its training, such as the ends of its last epochs; it
/// often answers better than the model itself (stochastic weight averaging, Izmailov et al., 2018). With n
/// moments so far:
///
///   mean <- mean + (p - mean) / (n + 1)
///
///   AveragedModel averaged(model);
///   for (...) { ...; if (late) averaged.update_parameters(model); }
///   model.load_state_dict(averaged.module());
///
/// Averages parameters and floating buffers; other buffers are those of the last moment. A value: a copy is a
/// mean of its own. State dict: n_averaged, module.*
class AveragedModel {
 public:
  /// Of no moment yet; until the first it is what the model is now.
  explicit AveragedModel(const Module& model);

  /// One moment more. Errors: a model of other names or shapes; then nothing has changed.
  void update_parameters(const Module& model);

  /// How many moments there were.
  int64_t n_averaged() const { return n_averaged_; }
  /// The mean, for load_state_dict of a model. Shares the values: clone what is to stay.
  const StateDict& module() const { return mean_; }

  /// The count and the mean.
  StateDict state_dict() const;
  /// Goes on from there. Errors: a name or a shape does not belong; then nothing has changed.
  void load_state_dict(const StateDict& state);

 private:
  int64_t n_averaged_ = 0;
  StateDict mean_;
};

}  // namespace heed
