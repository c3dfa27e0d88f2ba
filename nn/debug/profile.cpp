#include "nn/debug/profile.h"

#include <map>
#include <nlohmann/json.hpp>

#include "nn/module.h"
#include "tensor/kernels/matmul.h"
#include "tensor/kernels/outer_inner.h"
#include "tensor/memory.h"
#include "tensor/parallel.h"
#include "tensor/table.h"

namespace heed {
namespace {

// FLOP a second of chains of multiply-adds that never leave the registers, on all threads: the best of some
// short runs.
double machine_rate() {
  using Clock = std::chrono::steady_clock;
  using Lane [[gnu::vector_size(kernel::kVectorBytes)]] = float;
  constexpr int64_t kChains = 10, kSteps = 20000;
  const int64_t threads = num_threads();
  std::vector<float> kept(static_cast<size_t>(threads));
  double best = 0;
  for (int run = 0; run < 8; ++run) {
    const auto start = Clock::now();
    parallel_for(threads, 1, [&](int64_t thread, int64_t) {
      Lane chains[kChains] = {};
      const Lane factor = Lane{} + 0.5F;
      for (int64_t step = 0; step < kSteps; ++step)
        for (Lane& chain : chains) chain = chain * factor + factor;
      Lane sum = {};
      for (const Lane& chain : chains) sum += chain;
      kept[static_cast<size_t>(thread)] = sum[0];
    });
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::max(best, static_cast<double>(threads * kChains * kSteps * 2 *
                                              static_cast<int64_t>(sizeof(Lane) / sizeof(float))) /
                              seconds);
  }
  return kept[0] > 0 ? best : 0;
}

struct Sum {
  int64_t calls = 0, bytes = 0, flops = 0;
  double forward = 0, backward = 0;

  void add(const ProfileEvent& event) {
    (event.backward ? backward : forward) += event.seconds;
    calls += !event.backward;
    bytes += event.bytes;
    flops += event.flops;
  }
};

Table table_of(const char* what, const std::vector<std::pair<std::string, Sum>>& sums, double rate) {
  Table table({what, "calls", "forward ms", "backward ms", "MiB kept", "MFLOP", "% of rate"});
  for (const auto& [name, sum] : sums) {
    const auto flops = static_cast<double>(sum.flops);
    table.add({name, std::to_string(sum.calls), decimals(1e3 * sum.forward, 3),
               decimals(1e3 * sum.backward, 3), decimals(static_cast<double>(sum.bytes) / 0x1p20, 2),
               decimals(flops / 1e6, 1),
               flops > 0 ? decimals(100 * flops / (sum.forward + sum.backward) / rate, 0) : "-"});
  }
  return table;
}

}  // namespace

void Profile::on_begin(const OpScope& scope) {
  if (depth_++ > 0) return;
  const bool backward = scope.role == OpScope::Role::rule;
  running_ = {scope.name,
              backward ? rule_of_ : detail::module_path,
              scope.line,
              backward,
              0,
              0,
              -static_cast<int64_t>(memory_use().live),
              -kernel::product_flops()};
  running_.start = seconds();
}

void Profile::on_end(const OpScope&) {
  if (depth_ == 0 || --depth_ > 0) return;  // depth 0: the operation began before the profile
  running_.seconds = seconds() - running_.start;
  running_.bytes += static_cast<int64_t>(memory_use().live);
  running_.flops += kernel::product_flops();
  events_.push_back(running_);
}

std::string to_string(const Profile& profile) {
  const double all = profile.seconds();
  double rate = machine_rate();
  for (const ProfileEvent& event : profile.events())  // others may have used the cores just now
    if (event.seconds > 0) rate = std::max(rate, static_cast<double>(event.flops) / event.seconds);
  std::map<std::string, Sum> operations;
  std::vector<std::pair<std::string, Sum>> modules;
  double inside = 0;
  for (const ProfileEvent& event : profile.events()) {
    operations[event.operation].add(event);
    inside += event.seconds;
    // The module, and all that it is in.
    std::string path = event.module;
    for (size_t end = path.size(); end != std::string::npos;
         end = end == 0 ? std::string::npos : path.rfind('.', end)) {
      path.resize(end);
      const std::string name = path.empty() ? "(no module)" : path;
      auto found = std::ranges::find(modules, name, &std::pair<std::string, Sum>::first);
      if (found == modules.end()) found = modules.insert(found, {name, {}});
      found->second.add(event);
      if (path.find('.') == std::string::npos) break;
    }
  }
  std::vector<std::pair<std::string, Sum>> longest(operations.begin(), operations.end());
  std::ranges::stable_sort(longest, std::greater(),
                           [](const auto& row) { return row.second.forward + row.second.backward; });
  std::ranges::stable_sort(modules, {}, &std::pair<std::string, Sum>::first);
  return table_of("operation", longest, rate).to_string() + "\n\n" +
         table_of("module", modules, rate).to_string() + "\n\n" + decimals(1e3 * all, 3) + " ms in all, " +
         decimals(1e3 * (all - inside), 3) +
         " of them outside of operations; rate: " + decimals(rate / 1e9, 0) + " GFLOP/s on " +
         std::to_string(num_threads()) + (num_threads() == 1 ? " thread" : " threads");
}

std::string chrome_trace(const Profile& profile) {
  using Json = nlohmann::ordered_json;
  Json events = Json::array();
  const auto span = [&](const std::string& name, const char* kind, double start, double end) -> Json& {
    return events.emplace_back(Json{{"name", name},
                                    {"cat", kind},
                                    {"ph", "X"},
                                    {"ts", 1e6 * start},
                                    {"dur", 1e6 * (end - start)},
                                    {"pid", 1},
                                    {"tid", 1}});
  };
  // Modules are open from their first operation to their last, as long as no other comes between.
  struct Open {
    std::string name, path;
    double start;
  };
  std::vector<Open> open;
  double last = 0;
  bool backward = false;
  const auto close_to = [&](size_t depth) {
    for (; open.size() > depth; open.pop_back())
      span(open.back().name, backward ? "module, backward" : "module", open.back().start,
           last)["args"] = {{"path", open.back().path}};
  };
  for (const ProfileEvent& event : profile.events()) {
    std::vector<std::string> parts;
    for (std::string_view path = event.module; !path.empty();) {
      const size_t point = path.find('.');
      parts.emplace_back(path.substr(0, point));
      path.remove_prefix(point == std::string_view::npos ? path.size() : point + 1);
    }
    size_t shared = 0;
    while (backward == event.backward && shared < std::min(open.size(), parts.size()) &&
           open[shared].name == parts[shared])
      ++shared;
    close_to(shared);
    backward = event.backward;
    for (size_t i = shared; i < parts.size(); ++i)
      open.push_back({parts[i], i == 0 ? parts[i] : open.back().path + "." + parts[i], event.start});
    last = event.start + event.seconds;
    Json args = {{"bytes", event.bytes}, {"flops", event.flops}};
    if (*event.module) args["module"] = event.module;
    if (event.line.line() != 0)
      args["line"] = std::string(event.line.file_name()) + ":" + std::to_string(event.line.line());
    span(event.operation, event.backward ? "backward" : "forward", event.start, last)["args"] = args;
  }
  close_to(0);
  return Json{{"traceEvents", events}, {"displayTimeUnit", "ms"}}.dump(-1, ' ', false,
                                                                       Json::error_handler_t::replace);
}

}  // namespace heed
