#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/// The log of a training: a file with a line of JSON for each step.
namespace heed {

/// The numbers of one training step. Numbers that are NaN or infinite are left out of the log.
struct StepRecord {
  double loss;
  double rate = NAN;           ///< learning rate
  double gradient_norm = NAN;  ///< before clipping
  int64_t tokens = 0;          ///< learned from in this step; the log contains them per second
  double validation = NAN;     ///< loss on data that is not learned from
};

/// Writes one line for each step, without buffering:
///
///   {"run": "rnn", "step": 1, "loss": 5.2, "rate": 0.001, "gradient_norm": 2.1, "tokens_per_second": 8e4}
///
/// Except for the tokens per second, the same seed gives the same lines. Needs nlohmann-json.
class TrainingLog {
 public:
  /// A log that writes nothing.
  TrainingLog() = default;
  /// Opens a file and creates its folder. Deletes all lines, or, with `append`, only lines of this run after
  /// `step`: they were written after the checkpoint from which the training resumes. Throws if the file
  /// cannot be written or contains anything but a log, or if `run` is not UTF-8.
  TrainingLog(const std::string& path, std::string run, int64_t step, bool append);

  /// Writes the line of one step, which took so many seconds.
  void write(int64_t step, const StepRecord& record, double seconds);

 private:
  std::string path_, run_;
  std::shared_ptr<const int> fd_;  // null for a log that writes nothing
};

/// The losses of one run in a log.
struct LossCurve {
  std::string name;                         ///< of the run, "" if it has none
  std::vector<int64_t> steps;               ///< in the order of the lines
  std::vector<double> losses, validations;  ///< of each step; NaN where a line has none
};

/// Reads the runs of a log, in the order of their first lines. The last line may be incomplete. Throws if
/// another line is not a line of a log; the message has its number.
std::vector<LossCurve> read_log(const std::string& path);

}  // namespace heed
