// What both sides of the benchmarks share: registration, timing, and the counts that a workload's definition
// fixes.
#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <utility>

namespace bench {

using benchmark::State;

// Registers one workload; the clock is the wall's, so that work on other threads counts.
template <class Workload>
benchmark::internal::Benchmark* add(const std::string& name, Workload workload) {
  return benchmark::RegisterBenchmark(name.c_str(), std::move(workload))->UseRealTime();
}

// Times `step` after one untimed call, which allocates what the first step allocates.
template <class Step>
void time_steps(State& state, Step step) {
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

}  // namespace bench
