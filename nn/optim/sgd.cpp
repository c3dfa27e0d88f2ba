#include "nn/optim/sgd.h"

#include "tensor/kernels/optim.h"

namespace heed {

SGD::SGD(const std::vector<Tensor>& params, const SGDOptions& options)
    : SGD(std::vector{ParamGroup<SGDOptions>{params, options}}) {}

SGD::SGD(const std::vector<ParamGroup<SGDOptions>>& groups)
    : OptimizerWith("SGD", {"momentum_buffer", nullptr, nullptr}) {
  for (const auto& group : groups) add_param_group(group);
}

double* SGD::momentum(size_t group) { return &options(group).momentum; }

void SGD::check_options(const SGDOptions& o) const {
  check(o.lr >= 0 && o.momentum >= 0 && o.weight_decay >= 0, "SGD: lr ", o.lr, ", momentum ", o.momentum,
        ", weight_decay ", o.weight_decay, "; none may be negative");
  check(!o.nesterov || (o.momentum > 0 && o.dampening == 0), "SGD: nesterov with momentum ", o.momentum,
        " and dampening ", o.dampening, "; it needs a momentum and no dampening");
}

void SGD::update(size_t group, const Tensor& p, const Tensor& g, State& state) {
  const SGDOptions& o = of(group);
  const bool first = !state.tensors[0].defined();
  const Tensor v = remembered(state, 0, p, o.momentum != 0);
  kernel::sgd_step(p, g, v, {o.lr, o.weight_decay, o.maximize},
                   {o.momentum, first ? 0 : o.dampening, o.nesterov});
}

}  // namespace heed
