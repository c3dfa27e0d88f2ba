#pragma once

#include <chrono>

#include "autograd/node.h"

/// Time, memory and arithmetic by operation and by module, and a trace.
namespace heed {

/// One operation or gradient rule.
struct ProfileEvent {
  std::string operation;  ///< "linear"
  const char* module;     ///< Path of the module, or "".
  SourceLocation line;    ///< Line of the call.
  bool backward = false;  ///< Whether it is a gradient rule.
  double start = 0;       ///< Time since the profile began.
  double seconds = 0;     ///< Duration.
  int64_t bytes = 0;      ///< Growth of the memory in use.
  int64_t flops = 0;      ///< Arithmetic of products, 2 per multiply-add.
};

/// Measures what this thread computes during its lifetime:
///
///   Profile profile;
///   loss(model(x), y).backward();
///   optimizer.step();
///   std::cout << to_string(profile);
///   write_file("trace.json", chrome_trace(profile));  // for chrome://tracing or ui.perfetto.dev
///
/// Operations inside other operations count as part of them. Results keep the same bits. An operation takes
/// about 100 ns longer; without a profile there is no cost. It must end in the thread that created it.
class Profile : private Observer {
 public:
  /// In the order in which they ended.
  const std::vector<ProfileEvent>& events() const { return events_; }
  /// Time since the start.
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  void on_begin(const OpScope& scope) override;
  void on_end(const OpScope& scope) override;
  void on_backward(Node& node, const Tensor&) override { rule_module_ = node.module; }

  std::vector<ProfileEvent> events_;
  ProfileEvent running_ = {};
  int64_t depth_ = 0;  // number of nested scopes: an operation in a rule in an operation
  const char* rule_module_ = "";
  Clock::time_point start_ = Clock::now();
};

/// Two tables, by operation and by module including the modules inside: calls, milliseconds forward and
/// backward, growth of memory, arithmetic, and its rate relative to the peak rate of multiply-adds, which is
/// measured now on as many threads.
std::string to_string(const Profile& profile);
/// The events in the JSON format of trace viewers, with modules as spans around their operations.
std::string chrome_trace(const Profile& profile);

}  // namespace heed
