#include "nn/training/progress.h"

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string_view>

namespace heed {

bool accepts_control_sequences(int descriptor) {
  const char *no_color = std::getenv("NO_COLOR"), *term = std::getenv("TERM");
  const bool plain = (no_color && *no_color != '\0') || (term && term == std::string_view("dumb"));
  return isatty(descriptor) != 0 && !plain;
}

void Progress::clear() const {
  if (visible_ && terminal_) std::cerr << "\r\033[K" << std::flush;
}

void Progress::step(const std::string& note, int64_t count) {
  done_ += count;
  const auto now = Clock::now();
  const std::chrono::duration<double> wait(!terminal_ ? 10 : visible_ ? 0.1 : 1);
  if (now - printed_ < wait || done() || done_ == skipped_) return;
  printed_ = now;
  visible_ = true;
  const bool counted = remaining_ == Remaining::counted;
  std::string line = what_ + ": " + std::to_string(counted ? done_ : 100 * done_ / steps_) +
                     (counted ? " of " + std::to_string(steps_) + " done" : " %") +
                     (note.empty() ? "" : ", " + note);
  if (!counted) {
    const double spent = std::chrono::duration<double>(now - start_).count();
    const double left = spent / static_cast<double>(done_ - skipped_) * static_cast<double>(steps_ - done_);
    line += ", about " + std::to_string(std::lround(std::ceil(left))) + " s left";
  }
  std::cerr << (terminal_ ? "\r\033[K" + line : line + "\n") << std::flush;
}

}  // namespace heed
