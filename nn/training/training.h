#pragma once

#include "nn/distributed/processes.h"
#include "nn/files/checkpoint.h"
#include "nn/training/log.h"
#include "nn/training/progress.h"

/// The loop of a training.
namespace heed {

class Training;

/// Options of Training.
struct TrainingOptions {
  std::string folder = {};     ///< for log.jsonl and checkpoints/; created if necessary; "" writes nothing
  int64_t patience = 0;        ///< validations without a lower loss after which it stops early; 0: never
  double max_norm = INFINITY;  ///< to which the gradients are clipped together
  int64_t validate_every = 0;  ///< steps between validations; 0: a tenth of all steps
  bool resume = false;         ///< continues from the newest checkpoint in the folder, if there is one
  /// Steps between checkpoints. One more is saved when a run is stopped, and one at the end, unless this is
  /// 0, keep_best is false and there is no name.
  int64_t checkpoint_every = 1000;
  /// Saves best.safetensors after the validation with the lowest loss, and a checkpoint at the end.
  bool keep_best = true;
  std::string name = {};  ///< of one of several trainings in a folder, in the log and for checkpoints/`name`/
  std::string log = {};   ///< file of the log, instead of log.jsonl in the folder
  bool append_log = false;       ///< keeps what other trainings wrote to the log
  Progress* progress = nullptr;  ///< shared by several trainings, instead of its own
  std::function<void(const std::string&)> on_message = {};  ///< called instead of printing to standard error
  std::function<void(Training&)> on_step = {};              ///< called after each step
  /// Called after a signal has stopped a run, and its checkpoint is saved. By default prints where the
  /// checkpoint is and ends the program by the signal.
  std::function<void(int signal)> on_signal = {};
  /// Trains on several processes: see the second form of descend(). Process 0 alone writes, prints and
  /// validates; all resume from its checkpoint, and stop after the same step if one of them is stopped.
  Processes* processes = nullptr;
};

/// Trains a model: progress on standard error, a log, checkpoints, early stopping.
///
///   Training training(model, adam, {.folder = "out/line", .patience = 20});
///   training.run(500, [&] { return F::mse_loss(model(x), y); });
///
/// A run may be stopped at any time by Ctrl-C: the running step ends, a checkpoint is saved, and the same
/// program with .resume = true continues to the same bits as without the stop, if checkpoint() contains
/// everything that changes. A second Ctrl-C ends the program at once. SIGTERM and SIGUSR1, which batch
/// systems send, stop a run in the same way. A signal that is ignored stays ignored, such as SIGINT in a
/// background job of a script. Only one run at a time may be active in a process, since signals are sent to
/// the whole process.
///
/// Refers to the model and the optimizer, which must outlive it. Needs nlohmann-json.
class Training {
 public:
  /// Adds the model, the optimizer and this thread's default generator to the checkpoint. Throws if `resume`
  /// is set without a folder, or if a number in the options is negative or NaN.
  Training(Module& model, Optimizer& optimizer, TrainingOptions options = {});

  /// Trains until `steps` steps are done, including those before it was resumed. Each step calls `loss` and
  /// descend().
  ///
  /// `validation` returns the loss on data that is not learned from. It is called in an Evaluation every
  /// `validate_every` steps and at the end. With `patience` the training stops when this loss has not fallen
  /// for so many validations, and in the end the parameters are those of the lowest loss. A NaN
  /// does not count as a validation. Without a validation each loss that descend() receives counts instead.
  ///
  /// Returns false if stop() or a signal ended it. Throws if `steps` is negative, if descend() receives a
  /// loss that is not finite, or if a file cannot be written.
  bool run(int64_t steps, const std::function<Tensor()>& loss,
           const std::function<double()>& validation = {}) {
    const auto step = [&] { return descend(loss()); };
    return run(steps, step, validation);
  }
  /// The same for a step that does more than descend(), such as a step of a schedule:
  ///
  ///   training.checkpoint().add("schedule", schedule);
  ///   training.run(steps, [&] {
  ///     const StepRecord record = training.descend(loss_of(batches.next()));
  ///     schedule.step();
  ///     return record;
  ///   });
  bool run(int64_t steps, const std::function<StepRecord()>& step,
           const std::function<double()>& validation = {});
  /// One update of the parameters: zero_grad, backward, clip_grad_norm_, step. Returns the record of it.
  /// `tokens` is for the log. Throws if the loss is not finite, and then changes nothing.
  StepRecord descend(const Tensor& loss, int64_t tokens = 0);
  /// The same for a batch of so many rows that TrainingOptions::processes share, see Processes::backward.
  /// Without processes, the loss of all rows.
  StepRecord descend(int64_t rows, const std::function<ShardLoss(int64_t from, int64_t to)>& loss,
                     int64_t tokens = 0);

  /// What a checkpoint contains. Parts are added before the first run.
  Checkpoint& checkpoint() { return checkpoint_; }
  /// With the option `resume`, loads the newest checkpoint and returns whether there is one. run() calls it
  /// if nothing else has.
  bool resume();
  /// Stops a run after its current step, with a checkpoint.
  void stop() { stopped_ = true; }
  /// The number of steps that are done.
  int64_t step() const { return step_; }
  /// The record of the last step of run(), also within its validation; before the first, the loss is NaN.
  const StepRecord& last() const { return last_; }
  /// Prints a line above the progress.
  void print(const std::string& text) const;

 private:
  // The parameters with the lowest loss, as a part of checkpoints.
  struct Snapshot {
    StateDict values;
    const StateDict& state_dict() const { return values; }
    void load_state_dict(const StateDict& state) { values = state; }
  };
  StepRecord update(double mean, int64_t tokens, const Tensor& loss = {});
  bool writes() const { return !options_.processes || options_.processes->first(); }
  int stopped_by();
  void begin(int64_t steps);
  void validate(int64_t steps, const std::function<double()>& validation);
  void note_loss(double loss);
  void save(bool last);
  void report(int signal) const;

  Module& model_;
  Optimizer& optimizer_;
  TrainingOptions options_;
  Checkpoint checkpoint_;
  std::optional<Progress> own_progress_;  // of the current run
  int64_t step_ = 0, waited_ = 0;         // validations since the lowest loss
  double lowest_ = INFINITY;
  StepRecord last_{.loss = NAN};
  Snapshot best_;
  bool tried_to_resume_ = false, resumed_ = false, stopped_ = false, validates_ = false;
};

}  // namespace heed
