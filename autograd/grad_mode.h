#pragma once

#include <utility>

/// Whether operations are recorded: NoGrad.
namespace heed {

namespace detail {
inline thread_local constinit bool grad_mode = true;
}

/// Whether operations record how to differentiate themselves, in this thread. On at the start.
inline bool grad_enabled() { return detail::grad_mode; }

/// Switches recording on or off until the end of the scope.
class GradMode {
 public:
  /// True: on.
  explicit GradMode(bool enabled) : before_(std::exchange(detail::grad_mode, enabled)) {}
  ~GradMode() { detail::grad_mode = before_; }
  GradMode(const GradMode&) = delete;

 private:
  const bool before_;
};

/// `NoGrad guard;`: nothing is recorded until the end of the scope. For evaluation and updates.
struct NoGrad : GradMode {
  NoGrad() : GradMode(false) {}
};

}  // namespace heed
