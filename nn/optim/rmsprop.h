#pragma once

#include "nn/optim/optimizer.h"

namespace heed {

struct RMSpropOptions {
  double lr = 1e-2;
  double alpha = 0.99;
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum = 0;
  bool centered = false;
  bool maximize = false;
};

/// RMSprop (Hinton, 2012): the gradient over the root of a running mean of its square.
///
///   v <- alpha v + (1 - alpha) g^2,  p <- p - lr g / (sqrt(v) + eps)
///
/// centered: v less the square of the running mean of g. momentum: b <- momentum b + the quotient, and b is
/// the step.
class RMSprop : public OptimizerWith<RMSpropOptions> {
 public:
  explicit RMSprop(const std::vector<Tensor>& params, const RMSpropOptions& options = {});
  explicit RMSprop(const std::vector<ParamGroup<RMSpropOptions>>& groups);
  double* momentum(size_t group) override;

 private:
  void check_options(const RMSpropOptions& options) const override;
  void update(size_t group, const Tensor& p, const Tensor& g, State& state) override;
};

}  // namespace heed
