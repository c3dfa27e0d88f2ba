#pragma once

#include "autograd/ops/activation.h"
#include "nn/layers/linear.h"

/// SwiGLU.
namespace heed {

/// y = w2(silu(w1(x)) * w3(x)): a layer with a gate, which replaces the feed-forward layer of a transformer
/// (Shazeer, 2020). Names are those of Llama.
///
///   x          [..., features]
///   returns    [..., features]
///
/// State dict: w1.weight, w2.weight, w3.weight, and biases with {.bias = true}. Errors: x of another last
/// size.
struct SwiGLU : Layer<SwiGLU> {
  SwiGLU(int64_t features, int64_t hidden, LinearOptions options = {.bias = false})
      : w1(features, hidden, options), w2(hidden, features, options), w3(features, hidden, options) {}

  Tensor forward(const Tensor& x) const { return w2(silu(w1(x)) * w3(x)); }

  void visit(Visitor& v) override { v("w1", w1, "w2", w2, "w3", w3); }

  Linear w1, w2, w3;
};

}  // namespace heed
