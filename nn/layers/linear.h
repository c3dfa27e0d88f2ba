#pragma once

#include "autograd/ops/matmul.h"
#include "nn/init.h"
#include "nn/module.h"

/// Linear.
namespace heed {

/// Options of Linear.
struct LinearOptions {
  bool bias = true;
};

/// y = x W^T + b
///
///   x          [..., in_features]
///   returns    [..., out_features]
///
/// Start: uniform in [-1 / sqrt(in), 1 / sqrt(in)). State dict: weight, bias. Errors: x of another last size
/// or dtype.
struct Linear : Layer<Linear> {
  Linear(int64_t in_features, int64_t out_features, LinearOptions options = {})
      : weight(init::uniform_fan_in(in_features, {out_features, in_features})),
        bias(options.bias ? init::uniform_fan_in(in_features, {out_features}) : Tensor()) {}

  Tensor forward(const Tensor& x) const { return linear(x, weight, bias); }

  void visit(Visitor& v) override { v("weight", weight, "bias", bias); }

  int64_t in_features() const { return weight.size(1); }
  int64_t out_features() const { return weight.size(0); }

  Parameter weight;  ///< [out, in]
  Parameter bias;    ///< [out], undefined without bias
};

}  // namespace heed
