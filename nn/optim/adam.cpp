#include "nn/optim/adam.h"

#include "tensor/kernels/optim.h"

namespace heed {

Adam::Adam(const std::vector<Tensor>& params, const AdamOptions& options)
    : Adam(std::vector{ParamGroup<AdamOptions>{params, options}}) {}

Adam::Adam(const std::vector<ParamGroup<AdamOptions>>& groups) : Adam("Adam", groups, false) {}

Adam::Adam(const char* name, const std::vector<ParamGroup<AdamOptions>>& groups, bool decoupled)
    : OptimizerWith(name, {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}), decoupled_(decoupled) {
  for (const auto& group : groups) add_param_group(group);
}

AdamW::AdamW(const std::vector<Tensor>& params, const AdamWOptions& options)
    : AdamW(std::vector{ParamGroup<AdamWOptions>{params, options}}) {}

AdamW::AdamW(const std::vector<ParamGroup<AdamWOptions>>& groups) : Adam("AdamW", {}, true) {
  for (const auto& group : groups) add_param_group({group.params, group.options});
}

double* Adam::momentum(size_t group) { return options(group).betas.data(); }

void Adam::check_options(const AdamOptions& o) const {
  check(o.lr >= 0 && o.eps >= 0 && o.weight_decay >= 0, name_, ": lr ", o.lr, ", eps ", o.eps,
        ", weight_decay ", o.weight_decay, "; none may be negative");
  for (const double beta : o.betas)
    check(beta >= 0 && beta < 1, name_, ": betas are ", o.betas[0], " and ", o.betas[1],
          "; each must be at least 0 and below 1");
}

void Adam::update(size_t group, const Tensor& p, const Tensor& g, State& state) {
  const AdamOptions& o = of(group);
  const Tensor m = remembered(state, 0, p), v = remembered(state, 1, p);
  const Tensor largest_v = remembered(state, 2, p, o.amsgrad);
  kernel::adam_step(p, g, m, v, largest_v, {o.lr, o.weight_decay, o.maximize},
                    {o.betas[0], o.betas[1], o.eps, state.step, decoupled_});
}

}  // namespace heed
