// What both sides of the benchmarks share: registration, timing, and the counts that a workload's definition
// fixes.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <utility>

namespace bench {

using benchmark::State;

// HEED_BENCH_MEMORY=1 asks for memory instead of time (compare.sh --memory): a workload runs three steps.
inline bool measuring_memory() { return std::getenv("HEED_BENCH_MEMORY") != nullptr; }

// Registers one workload; the clock is the wall's, so that work on other threads counts.
template <class Workload>
benchmark::internal::Benchmark* add(const std::string& name, Workload workload) {
  auto* registered = benchmark::RegisterBenchmark(name.c_str(), std::move(workload))->UseRealTime();
  return measuring_memory() ? registered->Iterations(2) : registered;  // one more is not timed
}

// Stands before the first step: what the process holds at most while this lives, and how much that is above
// what it held before.
class PeakMemory {
 public:
  explicit PeakMemory(State& state) : state_(state) {
    if (!measuring_memory()) return;
    std::ofstream("/proc/self/clear_refs") << 5;  // the peak starts anew
    before_ = mib("VmRSS:");
  }
  ~PeakMemory() {
    if (!measuring_memory()) return;
    state_.counters["peak_mib"] = mib("VmHWM:");
    state_.counters["growth_mib"] = mib("VmHWM:") - before_;
  }
  PeakMemory(const PeakMemory&) = delete;
  PeakMemory& operator=(const PeakMemory&) = delete;

 private:
  static double mib(const std::string& field) {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
      if (double kib = 0; word == field && status >> kib) return kib / 1024;
    return std::numeric_limits<double>::quiet_NaN();
  }
  State& state_;
  double before_ = 0;
};

// Times `step` after one untimed call, which allocates what the first step allocates.
template <class Step>
void time_steps(State& state, Step step) {
  const PeakMemory memory(state);
  step();
  for (auto _ : state) step();
}

// GB/s and GFLOP/s follow from the time and these counts.
inline void count_bytes(State& state, int64_t bytes) { state.SetBytesProcessed(state.iterations() * bytes); }
inline void count_flops(State& state, double flops) {
  state.counters["FLOP"] = benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
}
// An iteration runs 1000 operations: show the time of one.
inline void count_1000_ops(State& state) {
  using benchmark::Counter;
  state.counters["op"] = Counter(1000, Counter::kIsIterationInvariantRate | Counter::kInvert);
}

// Each registers the workloads of the file that it is named after.
void add_overhead();
void add_elementwise();
void add_rows();
void add_linear();
void add_models();
void add_attention();
void add_seq2seq();
void add_gpt();

}  // namespace bench
