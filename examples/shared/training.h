#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "examples/shared/program.h"
#include "nn/optim/schedule.h"
#include "nn/training/training.h"

/// What the programs that train have in common.
namespace program {

/// The trainings of a program: the options --checkpoint-every, --resume, --stop-after and --log, and a
/// picture of all losses.
///
///   Trainings trainings(self);  // before self.run
///   ...
///   Training training(model, optimizer, trainings.with({.max_norm = 1}));
///   trainings.expect(training, {"--steps", "--lr"});
///   trainings.run(training, steps, [&] { return training.descend(loss_of(model)); });
class Trainings {
 public:
  using Step = std::function<heed::StepRecord()>;
  using Validation = std::function<double()>;

  /// `checkpoint_every` is the default of --checkpoint-every. With `shared` the program calls connect(), and
  /// there is an option --shards.
  explicit Trainings(Program& self, int64_t checkpoint_every = 0, bool shared = false);
  /// The names of these options.
  static std::vector<std::string> options(bool shared = false) {
    std::vector<std::string> names = {"--checkpoint-every", "--resume", "--stop-after", "--log"};
    if (shared) names.push_back("--shards");
    return names;
  }

  /// Connects to the other processes that mpirun started. Process 0 alone prints and writes; after run() the
  /// others end.
  void connect();
  /// The processes that share trainings, null before connect().
  heed::Processes* processes() { return processes_ ? &*processes_ : nullptr; }

  /// Adds to these options what the program's options say. With a name it is one of several trainings of the
  /// program, and saves a checkpoint at its end, so that none of them is repeated. Without
  /// --checkpoint-every, best.safetensors is saved only if `keep_best` is set here.
  heed::TrainingOptions with(heed::TrainingOptions options, bool keep_best = false);
  /// Adds conditions for --resume: these options must have the same values.
  void expect(heed::Training& training, const std::vector<std::string>& options) const;
  /// Training::run, and a picture of the losses meanwhile and at the end. Throws Stopped if the training is
  /// stopped.
  void run(heed::Training& training, int64_t steps, const Step& step, const Validation& validation = {});

  /// One line of progress for all trainings to come, which have so many steps together.
  void share_progress(int64_t steps);
  /// The file of the log, "" if there is none.
  std::string log_file() const;
  /// The checkpoint of the best validation.
  std::string best_file() const { return self_.out + "/checkpoints/best.safetensors"; }
  /// Moves a file of an earlier training, which this one is about to replace, to `path`.before. A training
  /// that was complete before this run has written the file itself, and nothing is moved.
  void keep_earlier(const std::string& path);

 private:
  using Clock = std::chrono::steady_clock;
  void draw() const;
  void after_step(heed::Training& training);

  Program& self_;
  std::string log_, last_log_;  // the option; the file that was written last
  int64_t every_ = 0, stop_after_ = 0, shards_ = 0;
  std::optional<heed::Processes> processes_;
  bool resume_ = false;
  int signal_ = 0;
  Clock::time_point drawn_;
  Clock::duration pause_ = std::chrono::seconds(5);
  std::filesystem::file_time_type completed_ = std::filesystem::file_time_type::max();  // before this run
  std::unique_ptr<Progress> shared_;
};

/// The number of steps that fit into a time. It is estimated from `trial`, a step of a training that is
/// thrown away, within a fiftieth of the time; a tenth is left for validation and pictures. The default
/// generator is restored afterwards. With processes all of them call it, and the time of process 0 counts.
int64_t steps_in(double seconds, const std::function<void()>& trial, heed::Processes* processes = nullptr);

/// The learning rate of step t as a fraction of the largest rate: rises in `warm_up` steps, then falls to 0
/// at the end.
///
///   max(0, min((t + 1) / warm_up, 1 - t / steps))
double warm_and_fall(int64_t t, int64_t steps, double warm_up);

/// A training whose number of steps is planned, and its learning rate, which rises for a tenth of them, but
/// for at most `warm_up`, and falls to 0 at the end. Both are parts of its checkpoints.
///
///   Plan::check(lr, minutes, "--epochs", epochs);
///   Plan plan(training, optimizer, 200);
///   plan.begin([&] { return steps_in(...); });
///   trainings.run(training, plan.steps, [&] { ...; plan.schedule.step(); ... });
struct Plan {
  Plan(heed::Training& training, heed::Optimizer& optimizer, double warm_up);
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  /// Throws if the largest rate, the minutes or another option, a number of steps or epochs, is out of range,
  /// or if both the minutes and the other option are given.
  static void check(double lr, double minutes, const std::string& option, int64_t count);
  /// With --resume loads the newest checkpoint. If there is none, calls `count` for the number of steps.
  void begin(const std::function<int64_t()>& count);

  int64_t steps = 0;
  heed::LambdaLR schedule;

 private:
  heed::Training& training_;
};

/// A text of 16 letters that depends on these texts: a condition for resuming with the same data.
std::string fingerprint(const std::vector<std::string>& texts);

}  // namespace program
