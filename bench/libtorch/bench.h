// What the libtorch side of the benchmarks shares. It does the same work under the same names as heed's side,
// written as one would who knows libtorch: gradients dropped instead of zeroed, fused operators where
// libtorch has them.
#pragma once

#include <benchmark/benchmark.h>
#include <torch/torch.h>

#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

namespace bench {

using benchmark::State;
using torch::Tensor;

// Standard normal values that require a gradient.
inline Tensor leaf(at::IntArrayRef sizes) { return torch::randn(sizes, torch::requires_grad()); }

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

// Every leaf must have its whole gradient in its own memory: shared with no other leaf and not with the seed.
inline void check_gradients(const std::vector<Tensor>& leaves, const Tensor& seed) {
  std::set<const void*> seen{seed.data_ptr()};
  for (const Tensor& x : leaves) {
    const Tensor& g = x.grad();
    if (!g.defined() || !g.sizes().equals(x.sizes())) throw std::runtime_error("a leaf lacks its gradient");
    if (!torch::isfinite(g).all().item<bool>()) throw std::runtime_error("a gradient is not finite");
    if (!g.is_non_overlapping_and_dense() || !seen.insert(g.data_ptr()).second) {
      throw std::runtime_error("two gradients share memory");
    }
  }
}

// Times forward and backward: drop the leaves' gradients, run `forward` with recording, run backward from
// ones.
template <class Forward>
void time_forward_backward(State& state, const std::vector<Tensor>& leaves, Forward forward) {
  const Tensor seed = torch::ones_like(forward());
  const auto step = [&] {
    for (const Tensor& x : leaves) x.mutable_grad().reset();
    forward().backward(seed);
  };
  step();
  check_gradients(leaves, seed);
  for (auto _ : state) step();
}

// GB/s and GFLOP/s follow from the time and from counts that the workload's definition fixes.
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
