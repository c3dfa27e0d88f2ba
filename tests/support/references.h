#pragma once

#include "tests/support/expect.h"

using Call = std::function<Tensor(const Tensors&)>;

/// f(in) and the gradients of its floating inputs. The incoming gradient is random and not contiguous.
inline Tensors value_and_gradients(const Call& f, const Tensors& in) {
  Tensors leaves;
  for (const Tensor& x : in)
    leaves.push_back(x.defined() && is_floating(x.dtype()) ? x.detach().requires_grad_() : x);
  const Tensor y = f(leaves);
  Shape turned = y.shape(), dims;
  std::reverse(turned.begin(), turned.end());
  for (int64_t d = y.dim() - 1; d >= 0; --d) dims.push_back(d);
  Generator generator(3);
  backward({y}, {.grad_outputs = {permute(randn(turned, y.dtype(), &generator), dims)}});
  Tensors all{y.detach()};
  for (const Tensor& x : leaves)
    if (x.defined() && x.requires_grad()) all.push_back(x.grad());
  return all;
}

/// The largest relative difference between elements, as largest_difference() defines it; infinite if the
/// shapes differ.
inline double distance(const Tensors& got, const Tensors& want) {
  double most = got.size() == want.size() ? 0 : INFINITY;
  for (size_t i = 0; i < got.size() && i < want.size(); ++i)
    most = std::max(most, got[i].shape() == want[i].shape()
                              ? largest_difference(values(got[i]), values(want[i]), Difference::relative)
                              : INFINITY);
  return most;
}

/// The distance between the results of f and its results in reference mode.
inline double from_plain(const std::function<Tensors()>& f) {
  const Tensors got = f();
  const Reference references(true);
  return distance(got, f());
}

/// The same for f(in) and its gradients.
inline double from_reference(const Call& f, const Tensors& in) {
  return from_plain([&] { return value_and_gradients(f, in); });
}

/// Whether the results of f have the same bits on any number of threads.
inline bool same_on_threads(const std::function<Tensors()>& f) {
  const auto bits = [&](int threads) {
    const Threads guard(threads);
    std::string bytes;
    for (const Tensor& x : f()) bytes += bytes_of(x);
    return bytes;
  };
  const std::string one = bits(1);
  return bits(2) == one && bits(3) == one && bits(7) == one;
}
