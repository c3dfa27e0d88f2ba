#pragma once

#include <chrono>
#include <cstdint>
#include <string>

/// How much of a long computation is done.
namespace heed {

/// Whether color and control sequences may be written to a file descriptor: it is a terminal, NO_COLOR is not
/// set, and TERM is not "dumb".
bool accepts_control_sequences(int descriptor);

/// Prints to standard error how much of a computation is done, and about how long the rest will take. On a
/// terminal it is one line that is rewritten, elsewhere a line every ten seconds. A computation that ends
/// within the first second (elsewhere, ten seconds) prints nothing.
///
///   Progress progress("training", steps);
///   for (int64_t i = 0; i < steps; ++i) {
///     ...
///     progress.step("loss " + short_number(loss));  // training: 12 %, loss 0.31, about 40 s left
///   }
/// If the steps take very different times, Remaining::counted shows how many are done instead of a guess:
/// "training: 3 of 37 done".
///
/// A terminal that does not accept control sequences gets plain lines as well.
class Progress {
 public:
  enum class Remaining { estimated, counted };
  Progress(std::string what, int64_t steps, Remaining remaining = Remaining::estimated)
      : what_(std::move(what)), steps_(steps), remaining_(remaining) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;

  /// Counts steps as done, and shows the note in the line.
  void step(const std::string& note = "", int64_t count = 1);
  /// Counts steps that were done earlier. They do not affect the estimate of the time.
  void skip(int64_t steps) {
    done_ += steps;
    skipped_ += steps;
  }
  /// Clears the line on the terminal, so that other text can be printed there.
  void clear() const;
  /// Whether all steps are done.
  bool done() const { return done_ >= steps_; }

 private:
  using Clock = std::chrono::steady_clock;
  const std::string what_;
  int64_t steps_, done_ = 0, skipped_ = 0;
  Remaining remaining_;
  Clock::time_point start_ = Clock::now(), printed_ = start_;
  bool terminal_ = accepts_control_sequences(2), visible_ = false;  // 2 is standard error
};

}  // namespace heed
