#include "nn/optim/rmsprop.h"

#include "tensor/kernels/optim.h"

namespace heed {

RMSprop::RMSprop(const std::vector<Tensor>& params, const RMSpropOptions& options)
    : RMSprop(std::vector{ParamGroup<RMSpropOptions>{params, options}}) {}

RMSprop::RMSprop(const std::vector<ParamGroup<RMSpropOptions>>& groups)
    : OptimizerWith("RMSprop", {"square_avg", "grad_avg", "momentum_buffer"}) {
  for (const auto& group : groups) add_param_group(group);
}

double* RMSprop::momentum(size_t group) { return &options(group).momentum; }

void RMSprop::check_options(const RMSpropOptions& o) const {
  check(o.lr >= 0 && o.alpha >= 0 && o.eps >= 0 && o.weight_decay >= 0 && o.momentum >= 0, "RMSprop: lr ",
        o.lr, ", alpha ", o.alpha, ", eps ", o.eps, ", weight_decay ", o.weight_decay, ", momentum ",
        o.momentum, "; none may be negative");
}

void RMSprop::update(size_t group, const Tensor& p, const Tensor& g, State& state) {
  const RMSpropOptions& o = of(group);
  const Tensor v = remembered(state, 0, p), mean = remembered(state, 1, p, o.centered);
  const Tensor b = remembered(state, 2, p, o.momentum > 0);
  kernel::rmsprop_step(p, g, v, mean, b, {o.lr, o.weight_decay, o.maximize}, {o.alpha, o.eps, o.momentum});
}

}  // namespace heed
