#pragma once

#include <array>

#include "nn/optim/optimizer.h"

namespace heed {

struct AdamOptions {
  double lr = 1e-3;
  std::array<double, 2> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;  // adds weight_decay p to the gradient
  bool amsgrad = false;
  bool maximize = false;
};

/// Adam (Kingma and Ba, 2015): steps of about lr, scaled by running means of the gradient and its square.
///
///   m <- beta1 m + (1 - beta1) g,  v <- beta2 v + (1 - beta2) g^2
///   p <- p - lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)
///
/// amsgrad puts the largest v so far for v.
class Adam : public OptimizerWith<AdamOptions> {
 public:
  explicit Adam(const std::vector<Tensor>& params, const AdamOptions& options = {});
  explicit Adam(const std::vector<ParamGroup<AdamOptions>>& groups);
  double* momentum(size_t group) override;

 protected:
  Adam(const char* name, const std::vector<ParamGroup<AdamOptions>>& groups, bool decoupled);

 private:
  void check_options(const AdamOptions& options) const override;
  void update(size_t group, const Tensor& p, const Tensor& g, State& state) override;

  bool decoupled_;
};

struct AdamWOptions {
  double lr = 1e-3;
  std::array<double, 2> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0.01;  // p <- p - lr weight_decay p before the step
  bool amsgrad = false;
  bool maximize = false;

  operator AdamOptions() const { return {lr, betas, eps, weight_decay, amsgrad, maximize}; }
};

/// Adam with decoupled weight decay (Loshchilov and Hutter, 2019): the decay shrinks the parameter itself and
/// does not pass through the moments.
class AdamW : public Adam {
 public:
  explicit AdamW(const std::vector<Tensor>& params, const AdamWOptions& options = {});
  explicit AdamW(const std::vector<ParamGroup<AdamWOptions>>& groups);
};

}  // namespace heed
