#pragma once

#include "autograd/grad_mode.h"
#include "tensor/tensor.h"

/// How gradient rules hold the tensors that they need.
namespace heed {

/// A tensor captured by a gradient rule: capture with `[b = save(b)]`, read with `b()`. Reading checks that
/// nothing was written into it since, see Note [Versions] in tensor/storage.h. Values that are cheap to
/// compute are recomputed instead of kept, see Note [Recomputed values] in autograd/recompute.h.
class Saved {
 public:
  explicit Saved(const Tensor& x)
      : tensor_(x.defined() ? held(x) : x), version_(x.defined() ? TensorImpl::of(x).storage->version : 0) {}
  /// The tensor. Errors: it was overwritten after it was saved.
  const Tensor& operator()() const {
    if (!tensor_.defined()) return tensor_;
    const Storage* storage = TensorImpl::of(tensor_).storage.get();
    if (!storage || storage->version != version_) [[unlikely]]
      storage ? throw_overwritten() : recompute();
    return tensor_;
  }
  /// Number of operations that reading it recomputes in sequence.
  int64_t recompute_depth() const;

 private:
  // What is kept of x: see Note [Gradient slots] for the alias of a leaf.
  static Tensor held(const Tensor& x) {
    AutogradMeta* meta = TensorImpl::of(x).autograd.get();
    if (!meta && !grad_enabled()) return x;  // nothing is recorded
    if (!meta || meta->recomputable) return held_view(x);
    if (meta->graph_alias) return *meta->graph_alias;
    meta->saved.store(true, std::memory_order_relaxed);
    return x;
  }
  static Tensor held_view(const Tensor& x);
  void recompute() const;
  [[noreturn]] void throw_overwritten() const;
  Tensor tensor_;
  mutable int64_t version_ = 0;
};

/// Captures a tensor for a gradient rule.
inline Saved save(const Tensor& tensor) { return Saved(tensor); }

}  // namespace heed
