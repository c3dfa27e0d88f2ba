#include "nn/debug/profile.h"

#include <nlohmann/json.hpp>

#include "tensor/kernels/matmul.h"
#include "tensor/kernels/outer_inner.h"
#include "tensor/table.h"

namespace heed {
namespace {

// Peak FLOP/s of multiply-adds in registers on all threads: the best of several short runs.
double peak_rate() {
  using Clock = std::chrono::steady_clock;
  using Lane [[gnu::vector_size(kernel::kVectorBytes)]] = float;
  constexpr int64_t kChains = 10, kSteps = 20000, kLanes = sizeof(Lane) / sizeof(float);
  const int64_t threads = num_threads();
  std::vector<float> results(static_cast<size_t>(threads));
  double shortest = INFINITY;
  for (int run = 0; run < 8; ++run) {
    const auto start = Clock::now();
    parallel_for(threads, 1, [&](int64_t thread, int64_t) {
      Lane chains[kChains] = {};
      const Lane factor = Lane{} + 0.5F;
      for (int64_t step = 0; step < kSteps; ++step)
        for (Lane& chain : chains) chain = chain * factor + factor;
      for (const Lane& chain : chains) results[static_cast<size_t>(thread)] += chain[0];
    });
    shortest = std::min(shortest, std::chrono::duration<double>(Clock::now() - start).count());
  }
  const auto flops = static_cast<double>(2 * threads * kChains * kSteps * kLanes);
  return results[0] > 0 ? flops / shortest : 0;
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
  running_ = {.operation = scope.name,
              .module = backward ? rule_module_ : detail::module_path,
              .line = scope.line,
              .backward = backward,
              .bytes = -static_cast<int64_t>(memory_use().live),
              .flops = -kernel::product_flops()};
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
  Json spans = Json::array();
  // The span of each module, forward and backward, and the event that continues it: a span lasts from the
  // first operation of the module to the last one before an operation outside.
  std::map<std::pair<bool, std::string>, std::pair<size_t, const ProfileEvent*>> modules;
  for (const ProfileEvent& event : profile.events()) {
    const auto add = [&](const std::string& name, const char* category, Json args) {
      spans.push_back({{"name", name},
                       {"cat", category},
                       {"ph", "X"},
                       {"ts", 1e6 * event.start},
                       {"dur", 1e6 * event.seconds},
                       {"pid", 1},
                       {"tid", 1},
                       {"args", std::move(args)}});
    };
    for (const std::string& path : enclosing_modules(event.module)) {
      auto& [span, next] = modules[{event.backward, path}];
      if (next == &event) {
        spans[span]["dur"] = 1e6 * (event.start + event.seconds) - spans[span]["ts"].get<double>();
      } else {
        span = spans.size();
        add(path.substr(path.rfind('.') + 1), event.backward ? "module, backward" : "module",
            {{"path", path}});
      }
      next = &event + 1;
    }
    Json args = {{"bytes", event.bytes}, {"flops", event.flops}};
    if (*event.module) args["module"] = event.module;
    if (event.line.line() != 0) args["line"] = detail::text(event.line.file_name(), ":", event.line.line());
    add(event.operation, event.backward ? "backward" : "forward", args);
  }
  return Json{{"traceEvents", spans}, {"displayTimeUnit", "ms"}}.dump(-1, ' ', false,
                                                                      Json::error_handler_t::replace);
}

}  // namespace heed
