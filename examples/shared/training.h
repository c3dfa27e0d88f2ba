#pragma once

#include <filesystem>
#include <functional>

#include "examples/shared/program.h"
#include "examples/shared/training_log.h"
#include "nn/files/checkpoint.h"
#include "nn/module.h"
#include "nn/optim/schedule.h"

/// What all programs that train for more than seconds have in common.
namespace program {

/// The options --checkpoint-every, --resume, --stop-after and --log of a program, and the loop of a training:
/// progress, log, loss curve, checkpoints. SIGINT and SIGTERM end it after the step that is running, with a
/// checkpoint.
///
///   Training training(self);  // before self.run
///   ...
///   Checkpoint state(training.folder());
///   state.add("model", model);
///   training.run(state, steps, [&](int64_t step, bool validate) { ...; return StepRecord{.loss =
///   loss.item()}; });
class Training {
 public:
  /// `every` is what --checkpoint-every is without being given.
  explicit Training(Program& self, int64_t every = 0);
  /// The names of these options.
  static std::vector<std::string> options() {
    return {"--checkpoint-every", "--resume", "--stop-after", "--log"};
  }

  /// One step; `validate` is true after each tenth of the training.
  using Step = std::function<StepRecord(int64_t step, bool validate)>;
  /// With --resume goes to the newest checkpoint, and returns whether there is one. For those who must know
  /// before run(), which calls it otherwise.
  bool resume(heed::Checkpoint& state);
  /// How many steps fit into this time, by how long `trial` takes: a step of something that is thrown away.
  /// Uses a fiftieth of the time to find out, and leaves a tenth for validation and pictures. The default
  /// generator is then as before.
  static int64_t steps_in(double seconds, const std::function<void()>& trial);
  /// What a step has to say, above the line of progress.
  void say(const std::string& text);
  /// From now on best.safetensors is kept, whether or not there are checkpoints between.
  void keep_validated() { keeps_best_ = true; }
  /// What these options are must be as it was, for a training to go on.
  void expect(heed::Checkpoint& state, const std::vector<std::string>& options) const;
  /// A file of an earlier training, which this one is about to write at its end, goes to `path`.before; not
  /// so where this one had come to its end before, and left the file itself.
  void renew(const std::string& path);

  /// Steps 0 to steps - 1; with --resume those before the checkpoint are passed over. With a name it is one
  /// of several trainings of the program, and leaves a checkpoint at its end, so that none of them is done
  /// twice.
  void run(heed::Checkpoint& state, int64_t steps, const Step& step, const std::string& name = "");
  /// The steps of all trainings to come: they share one line of progress and one picture.
  void share_progress(int64_t steps);

  /// Where a training keeps its checkpoints.
  std::string folder(const std::string& name = "") const;
  /// The file of the log, "" if there is none.
  std::string log_file() const;

 private:
  Program& self_;
  std::string log_, logged_;  // as it was given; the one that was written to last
  int64_t every_ = 0, stop_after_ = 0;
  bool resume_ = false, keeps_best_ = false;
  std::filesystem::file_time_type ended_ = std::filesystem::file_time_type::max();  // before this run
  const heed::Checkpoint* resumed_ = nullptr;
  std::unique_ptr<Progress> shared_;
  const Progress* shown_ = nullptr;  // while it runs
};

/// One step down the loss: its gradient, shortened to a norm of 1 where it is longer, and the optimiser's
/// step. Returns what a log says of it, with the tokens that the loss is of. Errors: the loss is not finite;
/// then nothing has changed.
StepRecord descend(const heed::Tensor& loss, heed::Optimizer& optimizer, const heed::Module& model,
                   int64_t tokens = 0);

/// The learning rate of step t as a part of the largest: up for some steps, then down to 0 at the end.
///
///   max(0, min((t + 1) / warm_up, 1 - t / steps))
double warm_and_fall(int64_t t, int64_t steps, double warm_up);

/// What a training with a planned end goes on from: model, optimiser, default generator, the number of steps,
/// and the rate, which rises for a tenth of them, but not for more than `warm_up`, and falls to 0 at the end.
///
///   Plan::check(lr, minutes, "--epochs", epochs);
///   Plan plan(training.folder(), model, optimizer, 200);
///   plan.state.add(...);                 // and what else there is
///   plan.begin(training, [&] { return Training::steps_in(...); });
///   training.run(plan.state, plan.steps, [&](...) { ...; plan.schedule.step(); ... });
struct Plan {
  Plan(const std::string& folder, heed::Module& model, heed::Optimizer& optimizer, double warm_up);
  Plan(const Plan&) = delete;
  /// Errors: its largest rate cannot be; nor its minutes, and beside them the number of another option, one
  /// of them 0.
  static void check(double lr, double minutes, const std::string& option, int64_t count);
  /// With --resume goes to the newest checkpoint; asks `count` for the number of steps where there is none.
  void begin(Training& training, const std::function<int64_t()>& count);

  int64_t steps = 0;
  heed::LambdaLR schedule;
  heed::Checkpoint state;
};

/// A text of 16 letters that changes with the data: to be expected of a checkpoint.
std::string fingerprint(const std::vector<std::string>& texts);

}  // namespace program
