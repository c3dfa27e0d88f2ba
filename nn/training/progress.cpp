#include "nn/training/progress.h"

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string_view>

namespace heed {

bool accepts_control_sequences(int descriptor) {
  const auto variable = [](const char* name) -> std::string_view {
    const char* value = std::getenv(name);
    return value ? value : "";
  };
  return isatty(descriptor) != 0 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
}

void Progress::clear() const {
  if (visible_ && terminal_) std::cerr << "\r\033[K" << std::flush;
}

void Progress::skip(int64_t steps) {
  done_ += steps;
  skipped_ += steps;
}

void Progress::step(const std::string& note, int64_t count) {
  done_ += count;
  const auto now = Clock::now();
  const std::chrono::duration<double> wait(!terminal_ ? 10 : visible_ ? 0.1 : 1);
  if (now - printed_ < wait || done() || done_ == skipped_) return;
  printed_ = now;
  visible_ = true;
  std::string line = what_ + ": ";
  if (remaining_ == Remaining::counted) {
    line +=
        std::to_string(done_) + " of " + std::to_string(steps_) + " done" + (note.empty() ? "" : ", " + note);
  } else {
    const double spent = std::chrono::duration<double>(now - start_).count();
    const double left = spent / static_cast<double>(done_ - skipped_) * static_cast<double>(steps_ - done_);
    line += std::to_string(100 * done_ / steps_) + " %, " + (note.empty() ? "" : note + ", ") + "about " +
            std::to_string(std::lround(std::ceil(left))) + " s left";
  }
  std::cerr << (terminal_ ? "\r\033[K" + line : line + "\n") << std::flush;
}

}  // namespace heed
