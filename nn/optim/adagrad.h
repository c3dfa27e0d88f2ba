#pragma once

#include "nn/optim/optimizer.h"

namespace heed {

struct AdagradOptions {
  double lr = 1e-2;
  double lr_decay = 0;  // step t has the rate lr / (1 + (t - 1) lr_decay)
  double weight_decay = 0;
  double initial_accumulator_value = 0;
  double eps = 1e-10;
  bool maximize = false;
};

/// Adagrad (Duchi, Hazan and Singer, 2011): the gradient over the root of the sum of all its squares.
///
///   s <- s + g^2,  p <- p - lr g / (sqrt(s) + eps)
class Adagrad : public OptimizerWith<AdagradOptions> {
 public:
  explicit Adagrad(const std::vector<Tensor>& params, const AdagradOptions& options = {});
  explicit Adagrad(const std::vector<ParamGroup<AdagradOptions>>& groups);

 private:
  void check_options(const AdagradOptions& options) const override;
  void update(size_t group, const Tensor& p, const Tensor& g, State& state) override;
};

}  // namespace heed
