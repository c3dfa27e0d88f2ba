// What the libtorch side of the benchmarks shares. It does the same work under the same names as heed's side,
// written as one would who knows libtorch: gradients dropped instead of zeroed, fused operators where
// libtorch has them.
#pragma once

#include <torch/torch.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <stdexcept>
#include <vector>

#include "../values.h"
#include "../workload.h"

namespace bench {

namespace side = torch;  // what workloads written once for both sides call

using torch::Tensor;
using Shape = std::vector<int64_t>;
using NoRecording = c10::InferenceMode;  // the faster of two ways: with NoGradGuard 20 to 40 % more

// Standard normal values that require a gradient.
inline Tensor leaf(at::IntArrayRef sizes) { return torch::randn(sizes, torch::requires_grad()); }

// The next values of heed's side, in tensors of these shapes and dtypes, see values.h.
inline std::vector<Tensor> heeds(const std::vector<Tensor>& like) {
  size_t bytes = 0, expected = 0;
  read_values(&bytes, sizeof bytes);
  for (const Tensor& x : like) expected += x.nbytes();
  if (bytes != expected) throw std::runtime_error("heed's side has other shapes, or ran other workloads");
  std::vector<Tensor> values;
  for (const Tensor& x : like) {
    values.push_back(torch::empty(x.sizes(), x.scalar_type()));
    read_values(values.back().data_ptr(), x.nbytes());
  }
  return values;
}

// Lets these tensors have the values of heed's side.
inline void given(const std::vector<Tensor>& tensors) {
  if (!comparing()) return;
  const torch::NoGradGuard no_grad;
  const std::vector<Tensor> values = heeds(tensors);
  for (size_t i = 0; i < tensors.size(); ++i) tensors[i].copy_(values[i]);
}

// The largest distance from what heed found, as a part of the tensor's norm. A norm below a hundredth of the
// largest counts as that: the tensor may be 0 but for rounding.
inline double difference(const std::vector<Tensor>& tensors) {
  const auto norm = [](const Tensor& x) { return x.detach().to(torch::kFloat64).norm().item<double>(); };
  const std::vector<Tensor> values = heeds(tensors);
  double scale = 0, worst = 0;
  for (const Tensor& x : values) scale = std::max(scale, norm(x));
  for (size_t i = 0; i < tensors.size(); ++i)
    worst = std::max(worst, norm(tensors[i] - values[i]) / std::max(norm(values[i]), scale / 100));
  return worst;
}

// Says how far a result and the gradients of the leaves are from heed's.
inline void found(State& state, const Tensor& result, const std::vector<Tensor>& leaves) {
  if (!comparing()) return;
  std::vector<Tensor> gradients;
  for (const Tensor& x : leaves) gradients.push_back(x.grad());
  const double of_result = difference({result}), of_gradients = difference(gradients);
  char text[80];
  std::snprintf(text, sizeof text, "differs by %.1e, gradients by %.1e", of_result, of_gradients);
  state.SetLabel(text);
  if (!(of_result < 1e-4 && of_gradients < 1e-4)) state.SkipWithError(text);
}

// Uniform ids in [low, high), the same ones on both sides where they are compared.
inline Tensor ids(int64_t low, int64_t high, at::IntArrayRef sizes) {
  const Tensor x = torch::randint(low, high, sizes, torch::kInt64);
  given({x});
  return x;
}

inline Tensor cross_entropy(const Tensor& x, const Tensor& labels) {
  return torch::cross_entropy_loss(x, labels);
}

inline Tensor convolution(const Tensor& x, const Tensor& weight, const Tensor& bias, int64_t stride,
                          int64_t padding) {
  return torch::conv2d(x, weight, bias, stride, padding);
}
inline Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& weight,
                         const Tensor& bias) {
  return torch::batch_norm(x, weight, bias, mean, var, /*training=*/true, 0.1, 1e-5, /*cudnn_enabled=*/false);
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
  given(leaves);
  const PeakMemory memory(state);
  const Tensor seed = torch::ones_like(forward());
  given({seed});
  const auto step = [&] {
    for (const Tensor& x : leaves) x.mutable_grad().reset();
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
  if (!torch::isfinite(x).all().item<bool>()) state.SkipWithError("the parameters are not finite any more");
}

// Times training steps: drop the gradients, loss() with recording, backward, scale all gradients to a norm of
// at most max_norm, update. `compared` is the dtype in which the sides are compared, see heed's side.
template <class Loss>
void time_training(State& state, torch::nn::Module& model, torch::optim::Optimizer& optimizer, Loss loss,
                   double max_norm = INFINITY, torch::Dtype compared = torch::kFloat32) {
  const std::vector<Tensor> parameters = model.parameters();
  const auto backward = [&] {
    model.zero_grad(/*set_to_none=*/true);
    Tensor value = loss();
    value.backward();
    if (std::isfinite(max_norm)) torch::nn::utils::clip_grad_norm_(parameters, max_norm);
    return value;
  };
  if (comparing()) {
    model.eval();  // dropout draws other numbers on the other side
    model.to(compared);
    given(parameters);
    const Tensor value = backward();
    found(state, value, parameters);
    model.zero_grad(/*set_to_none=*/true);
    model.to(torch::kFloat32);
    model.train();
  }
  time_steps(state, [&] {
    backward();
    optimizer.step();
  });
  for (const Tensor& p : parameters) require_finite(state, p);
}

}  // namespace bench
