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

// The encoder and decoder of `layers` layers each that transformer_seq2seq_step and greedy_decode run.
struct Translator {
  const char* name;
  int64_t layers, width, heads, feedforward, words, length;
};
inline constexpr Translator small{"small", 2, 128, 4, 512, 200, 16}, large{"large", 4, 256, 4, 1024, 100, 20};

// What each side says in its own way.
void prepare();       // before anything else
std::string about();  // the library, and what it was built with
void kernel_regression_step(State& state);
void mlp_step(State& state);
void adam_step(State& state);
void attention_scores_additive(State& state);
void mha_step(State& state, int64_t batch, int64_t length, int64_t width, int64_t heads);
void attention_long(State& state, int64_t length, bool is_causal);
void gru_seq2seq_step(State& state);
void transformer_seq2seq_step(State& state, const Translator& size);
void greedy_decode(State& state, bool cached, int64_t batch);
void gpt_step(State& state);
void add_second_ways();  // of one side alone: other ways to do a workload, behind its name

// Those that are written once for both sides; each registers the workloads of the file that it is named
// after.
void add_overhead();
void add_elementwise();
void add_rows();
void add_linear();
void add_images();

void add_workloads();  // all
// In all sizes: what is run as mha_step is, and as attention_long is.
void add_heads(const std::string& name, decltype(mha_step) step);
void add_long(const std::string& name, decltype(attention_long) attend);

}  // namespace bench
