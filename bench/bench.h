// What heed's side of the benchmarks shares. It does the same work under the same names as libtorch's side.
#pragma once

#include <heed.h>

#include <cmath>
#include <stdexcept>
#include <unordered_set>
#include <vector>

#include "values.h"
#include "workload.h"

namespace bench {

namespace side = heed;  // what workloads written once for both sides call

using heed::Shape;
using heed::Tensor;
using NoRecording = heed::NoGrad;

// Standard normal values that require a gradient.
inline Tensor leaf(const Shape& shape) { return heed::randn(shape).requires_grad_(); }

// Writes values for libtorch's side to start from, or to compare with its own, see values.h.
inline void given(const std::vector<Tensor>& tensors) {
  if (!comparing()) return;
  const auto size = [](const Tensor& x) { return static_cast<size_t>(x.numel() * heed::size_of(x.dtype())); };
  size_t bytes = 0;
  for (const Tensor& x : tensors) bytes += size(x);
  write_values(&bytes, sizeof bytes);
  for (const Tensor& x : tensors) {
    const Tensor values = heed::contiguous(x.detach());
    heed::visit_dtype(x.dtype(), [&]<class T>(heed::Type<T>) { write_values(values.data<T>(), size(x)); });
  }
}

// Writes a result and the gradients of the leaves.
inline void found(State&, const Tensor& result, const std::vector<Tensor>& leaves) {
  if (!comparing()) return;
  given({result});
  std::vector<Tensor> gradients;
  for (const Tensor& x : leaves) gradients.push_back(x.grad());
  given(gradients);
}

// Uniform ids in [low, high), the same ones on both sides where they are compared.
inline Tensor ids(int64_t low, int64_t high, const Shape& shape) {
  const Tensor x = heed::randint(low, high, shape);
  given({x});
  return x;
}

inline Tensor cross_entropy(const Tensor& x, const Tensor& labels) {
  return heed::F::cross_entropy(x, labels);
}

inline Tensor convolution(const Tensor& x, const Tensor& weight, const Tensor& bias, int64_t stride,
                          int64_t padding) {
  return heed::conv2d(x, weight, bias, {.stride = stride, .padding = padding});
}
inline Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& weight,
                         const Tensor& bias) {
  return heed::batch_norm(x, mean, var, weight, bias, true);
}

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
  given(leaves);
  const PeakMemory memory(state);
  Tensor seed = heed::ones_like(forward());
  if (comparing()) seed = heed::randn(seed.shape());  // ones tell nothing of what sums to a constant
  given({seed});
  const auto step = [&] {
    for (const Tensor& x : leaves) x.set_grad({});
    forward().backward(seed);
  };
  step();
  check_gradients(leaves, seed);
  if (comparing()) found(state, forward(), leaves);
  for (auto _ : state) step();
}

// A workload runs thousands of steps on one batch; a result that left the finite numbers times something
// else.
inline void require_finite(State& state, const Tensor& x) {
  if (!heed::all(heed::isfinite(x)).item<bool>())
    state.SkipWithError("the parameters are not finite any more");
}

// Times training steps: drop the gradients, loss() with recording, backward, scale all gradients to a norm of
// at most max_norm, update. `compared` is the dtype in which the sides are compared: of a model with many
// ReLUs float64, since where one is given 0 but for rounding, it has either slope.
template <class Loss>
void time_training(State& state, heed::Module& model, heed::Optimizer& optimizer, Loss loss,
                   double max_norm = INFINITY, heed::DType compared = heed::float32) {
  const auto backward = [&] {
    optimizer.zero_grad();
    Tensor value = loss();
    value.backward();
    if (std::isfinite(max_norm)) heed::clip_grad_norm_(model.parameters(), max_norm);
    return value;
  };
  if (comparing()) {
    model.eval();  // dropout draws other numbers on the other side
    model.to(compared);
    const std::vector<Tensor> parameters = model.parameters();
    given(parameters);
    const Tensor value = backward();
    found(state, value, parameters);
    optimizer.zero_grad();
    model.to(heed::float32);
    model.train();
  }
  time_steps(state, [&] {
    backward();
    optimizer.step();
  });
  for (const Tensor& p : model.parameters()) require_finite(state, p);
}

}  // namespace bench
