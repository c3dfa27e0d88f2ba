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

// Peak FLOP/s of multiply-adds in registers on all threads: the best of several short runs.
double peak_rate() {
  using Clock = std::chrono::steady_clock;
  using Lane [[gnu::vector_size(kernel::kVectorBytes)]] = float;
  constexpr int64_t kChains = 10, kSteps = 20000;
  const int64_t threads = num_threads();
  std::vector<float> results(static_cast<size_t>(threads));
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
      results[static_cast<size_t>(thread)] = sum[0];
    });
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::max(best, static_cast<double>(threads * kChains * kSteps * 2 *
                                              static_cast<int64_t>(sizeof(Lane) / sizeof(float))) /
                              seconds);
  }
  return results[0] > 0 ? best : 0;
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

Table table_of(const char* what, const auto& sums, double peak) {
  Table table({what, "calls", "forward ms", "backward ms", "MiB kept", "MFLOP", "% of rate"});
  for (const auto& [name, sum] : sums) {
    const auto flops = static_cast<double>(sum.flops);
    table.add({name, std::to_string(sum.calls), decimals(1e3 * sum.forward, 3),
               decimals(1e3 * sum.backward, 3), decimals(static_cast<double>(sum.bytes) / 0x1p20, 2),
               decimals(flops / 1e6, 1),
               flops > 0 ? decimals(100 * flops / (sum.forward + sum.backward) / peak, 0) : "-"});
  }
  return table;
}

// "a", "a.b", "a.b.c" for "a.b.c": the module and those that contain it, outermost first.
std::vector<std::string> enclosing_modules(const std::string& path) {
  std::vector<std::string> all;
  for (size_t end = 0; end < path.size();) {
    end = std::min(path.find('.', end + 1), path.size());
    all.push_back(path.substr(0, end));
  }
  return all;
}

}  // namespace

void Profile::on_begin(const OpScope& scope) {
  if (depth_++ > 0) return;
  const bool backward = scope.role == OpScope::Role::rule;
  running_ = {scope.name,
              backward ? rule_module_ : detail::module_path,
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
  double peak = peak_rate(), inside = 0;
  std::map<std::string, Sum> operations, modules;
  for (const ProfileEvent& event : profile.events()) {
    // The peak may have been measured while other programs used the cores.
    if (event.seconds > 0) peak = std::max(peak, static_cast<double>(event.flops) / event.seconds);
    inside += event.seconds;
    operations[event.operation].add(event);
    if (!*event.module) modules["(no module)"].add(event);
    for (const std::string& path : enclosing_modules(event.module)) modules[path].add(event);
  }
  std::vector<std::pair<std::string, Sum>> longest(operations.begin(), operations.end());
  std::ranges::stable_sort(longest, std::greater(),
                           [](const auto& row) { return row.second.forward + row.second.backward; });
  return detail::text(table_of("operation", longest, peak).to_string(), "\n\n",
                      table_of("module", modules, peak).to_string(), "\n\n", decimals(1e3 * all, 3),
                      " ms in all, ", decimals(1e3 * (all - inside), 3),
                      " of them outside of operations; rate: ", decimals(peak / 1e9, 0), " GFLOP/s on ",
                      num_threads(), num_threads() == 1 ? " thread" : " threads");
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
  // A module's span lasts from its first operation to its last before an operation of another module.
  struct Open {
    std::string path;
    double start;
  };
  std::vector<Open> open;
  double last = 0;
  bool backward = false;
  const auto close_to = [&](size_t depth) {
    for (; open.size() > depth; open.pop_back()) {
      const auto& [path, start] = open.back();
      span(path.substr(path.rfind('.') + 1), backward ? "module, backward" : "module", start,
           last)["args"] = {{"path", path}};
    }
  };
  for (const ProfileEvent& event : profile.events()) {
    const std::vector<std::string> paths = enclosing_modules(event.module);
    size_t shared = 0;
    while (backward == event.backward && shared < std::min(open.size(), paths.size()) &&
           open[shared].path == paths[shared])
      ++shared;
    close_to(shared);
    backward = event.backward;
    for (size_t i = shared; i < paths.size(); ++i) open.push_back({paths[i], event.start});
    last = event.start + event.seconds;
    Json args = {{"bytes", event.bytes}, {"flops", event.flops}};
    if (*event.module) args["module"] = event.module;
    if (event.line.line() != 0) args["line"] = detail::text(event.line.file_name(), ":", event.line.line());
    span(event.operation, event.backward ? "backward" : "forward", event.start, last)["args"] = args;
  }
  close_to(0);
  return Json{{"traceEvents", events}, {"displayTimeUnit", "ms"}}.dump(-1, ' ', false,
                                                                       Json::error_handler_t::replace);
}

}  // namespace heed
