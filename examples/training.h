#pragma once

#include <functional>

#include "examples/program.h"
#include "examples/training_log.h"
#include "nn/checkpoint.h"

/// What all programs that train for more than seconds have in common.
namespace program {

/// The options --checkpoint-every, --resume, --stop-after and --log of a program, and the loop of a training: progress,
/// log, loss curve, checkpoints. SIGINT and SIGTERM end it after the step that is running, with a checkpoint.
///
///   Training training(self);  // before self.run
///   ...
///   Checkpoint state(training.folder());
///   state.add("model", model);
///   training.run(state, steps, [&](int64_t step, bool validate) { ...; return StepRecord{.loss = loss.item()}; });
class Training {
 public:
  explicit Training(Program& self);

  /// One step; `validate` is true after each tenth of the training.
  using Step = std::function<StepRecord(int64_t step, bool validate)>;
  /// Steps 0 to steps - 1; with --resume those before the checkpoint are passed over. With a name it is one of several
  /// trainings of the program, and leaves a checkpoint at its end, so that none of them is done twice.
  void run(heed::Checkpoint& state, int64_t steps, const Step& step, const std::string& name = "");
  /// The steps of all trainings to come: they share one line of progress and one picture.
  void plan(int64_t steps);

  /// Where a training keeps its checkpoints.
  std::string folder(const std::string& name = "") const;
  /// The file of the log, "" if there is none.
  std::string log_file() const;

 private:
  Program& self_;
  std::string log_, logged_;  // as it was given; the one that was written to last
  int64_t every_ = 0, stop_after_ = 0;
  bool resume_ = false;
  std::unique_ptr<Progress> plan_;
};

/// A text of 16 letters that changes with the data: to be expected of a checkpoint.
std::string fingerprint(const std::vector<std::string>& texts);

}  // namespace program
