#pragma once

#include <chrono>

#include "autograd/node.h"

/// Where the time goes: by operation and by module, and as a trace.
namespace heed {

/// One operation, or the gradient rule of one, as a Profile saw it.
struct ProfileEvent {
  std::string operation;  ///< "linear"
  const char* module;     ///< path of the module that ran it, or ""
  SourceLocation line;    ///< that called it
  bool backward;          ///< whether it was its gradient rule
  double start, seconds;  ///< since the profile began, and how long
  int64_t bytes;          ///< of memory that was taken and not given back
  int64_t flops;          ///< of products, 2 per multiply-add
};

/// Measures what this thread computes while it exists:
///
///   Profile profile;
///   loss(model(x), y).backward();
///   optimizer.step();
///   std::cout << to_string(profile);
///   write_file("trace.json", chrome_trace(profile));  // for chrome://tracing or ui.perfetto.dev
///
/// Operations inside of others count as part of them. Results are the same bit for bit; an operation takes
/// some 100 ns longer, and nothing is paid when none is alive. It must end in the thread that made it.
class Profile : private Observer {
 public:
  /// In the order of their ends.
  const std::vector<ProfileEvent>& events() const { return events_; }
  /// How long it has been measuring.
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  void on_begin(const OpScope& scope) override;
  void on_end(const OpScope& scope) override;
  void on_backward(Node& node, const Tensor&) override { rule_of_ = node.module; }

  std::vector<ProfileEvent> events_;
  int64_t depth_ = 0;  // of scopes: operations inside of rules inside of operations
  ProfileEvent running_ = {};
  const char* rule_of_ = "";  // the module of the node that had its turn
  Clock::time_point start_ = Clock::now();
};

/// Two tables, by operation and by module with those inside: calls, milliseconds forward and backward, memory
/// that stayed, products in FLOP, and their rate as a share of what this machine multiplies and adds at most,
/// on as many threads, which is measured now.
std::string to_string(const Profile& profile);
/// The events as a JSON text that trace viewers draw, modules as spans around their operations.
std::string chrome_trace(const Profile& profile);

}  // namespace heed
