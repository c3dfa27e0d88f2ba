#include "nn/optim/optimizer.h"

#include <algorithm>

#include "autograd/grad_mode.h"
#include "tensor/create.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/optim.h"

namespace heed {

void Optimizer::add_group(const std::vector<Tensor>& params) {
  check(!params.empty(), name_, ": a group without parameters; is visit() of the model missing a line?");
  std::vector<Tensor> all;
  for (const auto& group : groups_) all.insert(all.end(), group.begin(), group.end());
  for (const Tensor& p : params) {
    check(p.defined() && is_floating(p.dtype()) && p.is_leaf(), name_, ": parameter ", all.size(),
          " is not a floating leaf; optimise the leaves that a result was computed from");
    check(std::none_of(all.begin(), all.end(), [&](const Tensor& other) { return other.same_as(p); }), name_,
          ": parameter ", all.size(), " of shape ", p.shape(), " is there twice; give each once");
    all.push_back(p);
  }
  groups_.push_back(params);
  states_.resize(all.size());
}

void Optimizer::step(std::source_location line) {
  const NoGrad guard;
  size_t place = 0;
  for (size_t group = 0; group < groups_.size(); ++group)
    for (const Tensor& p : groups_[group]) {
      State& state = states_[place++];
      const Tensor g = p.grad();
      if (!g.defined()) continue;
      check(g.shape() == p.shape() && g.dtype() == p.dtype(), name_, ": parameter ", place - 1, " is ",
            p.dtype(), " ", p.shape(), " and its gradient ", g.dtype(), " ", g.shape());
      for (Tensor& memory : state.tensors)  // the model may have changed its dtype
        if (memory.defined() && memory.dtype() != p.dtype()) memory = kernel::cast(memory, p.dtype());
      ++state.step;
      const Tensor values = kernel::contiguous(p.detach());
      update(group, values, g.detach(), state);
      if (!p.is_contiguous()) kernel::copy_into(p, values);
      TensorBody::of(p).storage->wrote(name_, line);
    }
}

void Optimizer::zero_grad() const {
  for (const auto& group : groups_)
    for (const Tensor& p : group) p.set_grad({});
}

void Optimizer::set_lr(double lr) {
  for (size_t group = 0; group < groups_.size(); ++group) set_lr(group, lr);
}

void Optimizer::set_lr(size_t group, double lr) {
  check(lr >= 0, name_, ": a learning rate of ", lr, "; it must be at least 0");
  lr_of(group) = lr;
}

Tensor Optimizer::remembered(State& state, size_t slot, const Tensor& p, bool wanted, double value) {
  if (!wanted) return {};
  Tensor& memory = state.tensors[slot];
  if (!memory.defined()) memory = kernel::full(p.shape(), value, p.dtype());
  return memory;
}

std::map<std::string, Tensor> Optimizer::state_dict() const {
  std::map<std::string, Tensor> result;
  for (size_t place = 0; place < states_.size(); ++place) {
    const std::string prefix = std::to_string(place) + ".";
    const State& state = states_[place];
    if (state.step == 0) continue;
    result[prefix + "step"] = kernel::full({}, static_cast<double>(state.step), int64);
    for (size_t slot = 0; slot < names_.size(); ++slot)
      if (state.tensors[slot].defined()) result[prefix + names_[slot]] = state.tensors[slot];
  }
  for (size_t group = 0; group < groups_.size(); ++group)
    result["lr." + std::to_string(group)] = kernel::full({}, lr(group), float64);
  return result;
}

void Optimizer::load_state_dict(const std::map<std::string, Tensor>& state) {
  std::vector<State> states(states_.size());
  std::vector<double> rates(groups_.size());
  for (size_t group = 0; group < groups_.size(); ++group) rates[group] = lr(group);
  size_t known = 0;
  const auto find = [&](const std::string& name) -> const Tensor* {
    const auto found = state.find(name);
    known += found != state.end();
    return found == state.end() ? nullptr : &found->second;
  };

  size_t place = 0;
  for (size_t group = 0; group < groups_.size(); ++group) {
    if (const Tensor* lr = find("lr." + std::to_string(group))) rates[group] = lr->item();
    for (const Tensor& p : groups_[group]) {
      const std::string prefix = std::to_string(place) + ".";
      State& own = states[place++];
      if (const Tensor* step = find(prefix + "step")) own.step = step->item<int64_t>();
      for (size_t slot = 0; slot < names_.size(); ++slot) {
        if (!names_[slot]) continue;
        const Tensor* memory = find(prefix + names_[slot]);
        if (!memory) continue;
        check(memory->shape() == p.shape(), name_, ": load_state_dict: ", prefix, names_[slot], " has shape ",
              memory->shape(), " and the parameter ", p.shape());
        own.tensors[slot] = kernel::cast(*memory, p.dtype());
      }
    }
  }
  check(known == state.size(), name_, ": load_state_dict: ", state.size() - known, " of ", state.size(),
        " entries do not belong to ", states_.size(), " parameters in ", groups_.size(), " groups of a ",
        name_);
  states_ = std::move(states);
  for (size_t group = 0; group < groups_.size(); ++group) set_lr(group, rates[group]);
}

SGD::SGD(const std::vector<Tensor>& params, const SGDOptions& options)
    : SGD(std::vector{ParamGroup<SGDOptions>{params, options}}) {}

SGD::SGD(const std::vector<ParamGroup<SGDOptions>>& groups)
    : OptimizerWith("SGD", {"momentum_buffer", nullptr, nullptr}) {
  for (const auto& group : groups) add_param_group(group);
}

double* SGD::momentum(size_t group) & { return &options(group).momentum; }

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

double* Adam::momentum(size_t group) & { return options(group).betas.data(); }

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

RMSprop::RMSprop(const std::vector<Tensor>& params, const RMSpropOptions& options)
    : RMSprop(std::vector{ParamGroup<RMSpropOptions>{params, options}}) {}

RMSprop::RMSprop(const std::vector<ParamGroup<RMSpropOptions>>& groups)
    : OptimizerWith("RMSprop", {"square_avg", "grad_avg", "momentum_buffer"}) {
  for (const auto& group : groups) add_param_group(group);
}

double* RMSprop::momentum(size_t group) & { return &options(group).momentum; }

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
