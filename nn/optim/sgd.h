#pragma once

#include "nn/optim/optimizer.h"

namespace heed {

struct SGDOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;  // adds weight_decay p to the gradient
  bool nesterov = false;
  bool maximize = false;
};

/// Stochastic gradient descent. With momentum the steps follow a running sum of gradients:
///
///   v <- momentum v + (1 - dampening) g   (v <- g at the first step)
///   p <- p - lr v                         Nesterov: p <- p - lr (g + momentum v)
class SGD : public OptimizerWith<SGDOptions> {
 public:
  explicit SGD(const std::vector<Tensor>& params, const SGDOptions& options = {});
  explicit SGD(const std::vector<ParamGroup<SGDOptions>>& groups);
  double* momentum(size_t group) override;

 private:
  void check_options(const SGDOptions& options) const override;
  void update(size_t group, const Tensor& p, const Tensor& g, State& state) override;
};

}  // namespace heed
