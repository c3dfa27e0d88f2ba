// What heed's side of the benchmarks shares. It does the same work under the same names as libtorch's side.
#pragma once

#include <heed.h>

#include <stdexcept>
#include <unordered_set>
#include <vector>

#include "workload.h"

namespace bench {

namespace side = heed;  // what workloads written once for both sides call

using heed::Shape;
using heed::Tensor;

// Standard normal values that require a gradient.
inline Tensor leaf(const Shape& shape) { return heed::randn(shape).requires_grad_(); }

// Every leaf must have its whole gradient in its own memory: shared with no other leaf and not with the seed.
inline void check_gradients(const std::vector<Tensor>& leaves, const Tensor& seed) {
  std::unordered_set<const void*> seen{seed.data<float>()};
  for (const Tensor& x : leaves) {
    const Tensor g = x.grad();
    if (!g.defined() || g.shape() != x.shape()) throw std::runtime_error("a leaf lacks its gradient");
    if (!heed::all(heed::isfinite(g)).item<bool>()) throw std::runtime_error("a gradient is not finite");
    if (!g.is_contiguous() || !seen.insert(g.data<float>()).second)
      throw std::runtime_error("two gradients share memory");
  }
}

// Times forward and backward: drop the leaves' gradients, run `forward` with recording, run backward from
// ones.
template <class Forward>
void time_forward_backward(State& state, const std::vector<Tensor>& leaves, Forward forward) {
  const Tensor seed = heed::ones_like(forward());
  const auto step = [&] {
    for (const Tensor& x : leaves) x.set_grad({});
    forward().backward(seed);
  };
  step();
  check_gradients(leaves, seed);
  for (auto _ : state) step();
}

}  // namespace bench
