#include "nn/optim/adagrad.h"

#include "tensor/kernels/optim.h"

namespace heed {

Adagrad::Adagrad(const std::vector<Tensor>& params, const AdagradOptions& options)
    : Adagrad(std::vector{ParamGroup<AdagradOptions>{params, options}}) {}

Adagrad::Adagrad(const std::vector<ParamGroup<AdagradOptions>>& groups)
    : OptimizerWith("Adagrad", {"sum", nullptr, nullptr}) {
  for (const auto& group : groups) add_param_group(group);
}

void Adagrad::check_options(const AdagradOptions& o) const {
  check(o.lr >= 0 && o.lr_decay >= 0 && o.weight_decay >= 0 && o.initial_accumulator_value >= 0 && o.eps >= 0,
        "Adagrad: lr ", o.lr, ", lr_decay ", o.lr_decay, ", weight_decay ", o.weight_decay,
        ", initial_accumulator_value ", o.initial_accumulator_value, ", eps ", o.eps,
        "; none may be negative");
}

void Adagrad::update(size_t group, const Tensor& p, const Tensor& g, State& state) {
  const AdagradOptions& o = of(group);
  const Tensor sum = remembered(state, 0, p, true, o.initial_accumulator_value);
  const double lr = o.lr / (1 + static_cast<double>(state.step - 1) * o.lr_decay);
  kernel::adagrad_step(p, g, sum, {lr, o.weight_decay, o.maximize}, o.eps);
}

}  // namespace heed
