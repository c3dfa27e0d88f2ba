#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

/// The record of a training: a file of JSON lines, and the curves drawn from such files.
namespace program {

class Program;

/// What one step came to. A number that is NaN is not written.
struct StepRecord {
  double loss;
  double rate = NAN;
  double gradient_norm = NAN;
  int64_t tokens = 0;       // learned from in this step; the log has them a second
  double validation = NAN;  // loss on data that is not learned from
};

/// Writes one line a step, {"run": "rnn", "step": 1, "loss": 5.2, "rate": 0.001, "gradient_norm": 2.1,
/// "tokens_per_second": 8e4}, at once. All numbers but the tokens a second are the same for the same seed.
class TrainingLog {
 public:
  TrainingLog() = default;  // writes nothing
  /// Begins the file anew, or goes on with it, where lines of this run behind `step` go: they were written
  /// after the checkpoint that the training goes on from.
  TrainingLog(const std::string& path, std::string run, int64_t step, bool go_on);
  ~TrainingLog();
  TrainingLog(const TrainingLog&) = delete;
  TrainingLog& operator=(TrainingLog&& other) noexcept;

  void write(int64_t step, const StepRecord& record, double seconds);
  bool writes() const { return fd_ >= 0; }

 private:
  std::string path_, run_;
  int fd_ = -1;
};

/// The losses of one run in a log.
struct LossCurve {
  std::string name;  // of the run
  std::vector<int64_t> steps;
  std::vector<double> losses, validations;  // NaN where a line has none
};

/// The runs of a log, in the order in which they begin. The last line may be half written. Errors: a line
/// that is no line of a log, with its number.
std::vector<LossCurve> read_log(const std::string& path);

/// Draws the curves into one picture, `file`.svg of the program; each is the mean of neighbouring steps.
void draw_losses(Program& self, const std::string& file, const std::vector<LossCurve>& curves);

}  // namespace program
