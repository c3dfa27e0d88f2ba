// What the libtorch side of the benchmarks shares. It does the same work under the same names as heed's side,
// written as one would who knows libtorch: gradients dropped instead of zeroed, fused operators where
// libtorch has them.
#pragma once

#include <torch/torch.h>

#include <set>
#include <stdexcept>
#include <vector>

#include "../workload.h"

namespace bench {

namespace side = torch;  // what workloads written once for both sides call

using torch::Tensor;

// Standard normal values that require a gradient.
inline Tensor leaf(at::IntArrayRef sizes) { return torch::randn(sizes, torch::requires_grad()); }

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

}  // namespace bench
