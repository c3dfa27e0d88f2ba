#pragma once

#include <functional>

#include "autograd/engine.h"
#include "tensor/create.h"
#include "tests/support/expect.h"

using Tensors = std::vector<heed::Tensor>;
using Call = std::function<heed::Tensor(const Tensors&)>;

/// f(in) and the gradients of what of `in` is floating, for an incoming gradient without a pattern, whose
/// memory is in another order.
inline Tensors value_and_gradients(const Call& f, const Tensors& in) {
  Tensors leaves;
  for (const heed::Tensor& x : in)
    leaves.push_back(x.defined() && is_floating(x.dtype()) ? x.detach().requires_grad_() : x);
  const heed::Tensor y = f(leaves);
  heed::Shape turned, dims;
  for (int64_t d = y.dim() - 1; d >= 0; --d) {
    turned.push_back(y.size(d));
    dims.push_back(d);
  }
  heed::Generator generator(3);
  heed::backward({y}, {.grad_outputs = {permute(randn(turned, y.dtype(), &generator), dims)}});
  Tensors all{y.detach()};
  for (const heed::Tensor& x : leaves)
    if (x.defined() && x.requires_grad()) all.push_back(x.grad());
  return all;
}

/// The largest difference between elements, relative to the larger of 1 and what is wanted. Two NaN, or
/// infinities of one sign, do not differ; other shapes and other infinities differ infinitely.
inline double distance(const Tensors& got, const Tensors& want) {
  double most = got.size() == want.size() ? 0 : INFINITY;
  for (size_t i = 0; i < got.size() && i < want.size(); ++i) {
    if (got[i].shape() != want[i].shape()) return INFINITY;
    const std::vector<double> a = values(got[i]), b = values(want[i]);
    for (size_t j = 0; j < a.size(); ++j) {
      if (a[j] == b[j] || (std::isnan(a[j]) && std::isnan(b[j]))) continue;
      const double apart = std::fabs(a[j] - b[j]) / std::max(1.0, std::fabs(b[j]));
      if (!(apart < INFINITY)) return INFINITY;
      most = std::max(most, apart);
    }
  }
  return most;
}

/// How far f and its gradients are from those of the same call in public operations.
inline double from_twin(const Call& f, const Tensors& in) {
  const struct Mode {
    bool before = heed::reference_mode();
    ~Mode() { heed::set_reference_mode(before); }
  } mode;
  const Tensors got = value_and_gradients(f, in);
  heed::set_reference_mode(true);
  return distance(got, value_and_gradients(f, in));
}

/// Whether what f gives has the same bits on any number of threads.
inline bool same_on_threads(const std::function<Tensors()>& f) {
  const auto bits = [&](int threads) {
    const Threads guard(threads);
    std::string bytes;
    for (const heed::Tensor& x : f())
      x.for_each([&](auto v) { bytes.append(reinterpret_cast<const char*>(&v), sizeof v); });
    return bytes;
  };
  const std::string one = bits(1);
  return bits(2) == one && bits(3) == one && bits(7) == one;
}
