#include "nn/optim/optimizer.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

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
      OptimizerState& state = states_[place++];
      const Tensor g = p.grad();
      if (!g.defined()) continue;
      check(g.shape() == p.shape() && g.dtype() == p.dtype(), name_, ": parameter ", place - 1, " is ",
            p.dtype(), " ", p.shape(), " and its gradient ", g.dtype(), " ", g.shape());
      for (Tensor& memory : state.tensors)  // the model may have changed its dtype
        if (memory.defined() && memory.dtype() != p.dtype()) memory = kernel::cast(memory, p.dtype());
      ++state.step;
      const Tensor values = kernel::contiguous(p.detach());
      step_one(group, values, g.detach(), state);
      if (!p.is_contiguous()) kernel::copy_into(p, values);
      TensorBody::of(p).storage->wrote(name_, line);
    }
}

void Optimizer::zero_grad() const {
  for (const auto& group : groups_)
    for (const Tensor& p : group) p.set_grad({});
}

void Optimizer::set_lr(double lr) { set_lr(std::vector<double>(groups(), lr)); }

void Optimizer::set_lr(size_t group, double lr) { lr_of(group) = checked(lr); }

void Optimizer::set_lr(const std::vector<double>& rates) {
  check(rates.size() == groups(), name_, ": ", rates.size(), " learning rates for ", groups(), " groups");
  for (const double lr : rates) checked(lr);
  for (size_t group = 0; group < groups(); ++group) lr_of(group) = rates[group];
}

double Optimizer::checked(double lr) const {
  check(lr >= 0, name_, ": a learning rate of ", lr, "; it must be at least 0");
  return lr;
}

Tensor OptimizerState::remembered(size_t slot, const Tensor& p, bool wanted, double value) {
  if (!wanted) return {};
  if (!tensors[slot].defined()) tensors[slot] = kernel::full(p.shape(), value, p.dtype());
  return tensors[slot];
}

std::map<std::string, Tensor> Optimizer::state_dict() const {
  std::map<std::string, Tensor> result;
  for (size_t place = 0; place < states_.size(); ++place) {
    const std::string prefix = std::to_string(place) + ".";
    const OptimizerState& state = states_[place];
    if (state.step == 0) continue;
    result[prefix + "step"] = kernel::full({}, static_cast<double>(state.step), int64);
    for (size_t slot = 0; slot < memory_.size(); ++slot)
      if (state.tensors[slot].defined()) result[prefix + memory_[slot]] = state.tensors[slot];
  }
  for (size_t group = 0; group < groups_.size(); ++group)
    result["lr." + std::to_string(group)] = kernel::full({}, lr(group), float64);
  return result;
}

void Optimizer::load_state_dict(const std::map<std::string, Tensor>& state) {
  std::vector<OptimizerState> states(states_.size());
  std::vector<double> rates;
  size_t known = 0;
  const auto find = [&](const std::string& name) -> const Tensor* {
    const auto found = state.find(name);
    known += found != state.end();
    return found == state.end() ? nullptr : &found->second;
  };

  size_t place = 0;
  for (size_t group = 0; group < groups(); ++group) {
    const Tensor* lr = find("lr." + std::to_string(group));
    rates.push_back(lr ? lr->item() : this->lr(group));
    for (const Tensor& p : groups_[group]) {
      const std::string prefix = std::to_string(place) + ".";
      OptimizerState& own = states[place++];
      if (const Tensor* step = find(prefix + "step")) {
        const auto count = step->item();
        check(count >= 0 && count == std::floor(count), name_, ": load_state_dict: ", prefix, "step is ",
              count, "; it must be a whole number from 0");
        own.step = static_cast<int64_t>(count);
      }
      for (size_t slot = 0; slot < memory_.size(); ++slot) {
        if (!memory_[slot]) continue;
        const Tensor* memory = find(prefix + memory_[slot]);
        if (!memory) continue;
        check(memory->shape() == p.shape(), name_, ": load_state_dict: ", prefix, memory_[slot],
              " has shape ", memory->shape(), " and the parameter ", p.shape());
        own.tensors[slot] = kernel::cast(*memory, p.dtype());
      }
    }
  }
  check(known == state.size(), name_, ": load_state_dict: ", state.size() - known, " of ", state.size(),
        " entries do not belong to ", states_.size(), " parameters in ", groups(), " groups of a ", name_);
  set_lr(rates);  // the last that may throw, and then changes nothing
  states_ = std::move(states);
}

namespace {

void check_not_negative(const char* optimizer,
                        std::initializer_list<std::pair<const char*, double>> options) {
  bool good = true;
  std::string all;
  for (const auto& [name, value] : options) {
    good &= value >= 0;
    all += (all.empty() ? "" : ", ") + std::string(name) + " " + to_string(value);
  }
  check(good, optimizer, ": ", all, "; none may be negative");
}

}  // namespace

void SGDOptions::check() const {
  check_not_negative(kName, {{"lr", lr}, {"momentum", momentum}, {"weight_decay", weight_decay}});
  heed::check(!nesterov || (momentum > 0 && dampening == 0), "SGD: nesterov with momentum ", momentum,
              " and dampening ", dampening, "; it needs a momentum and no dampening");
}

void SGDOptions::update(const Tensor& p, const Tensor& g, OptimizerState& state) const {
  const bool first = !state.tensors[0].defined();
  const Tensor v = state.remembered(0, p, momentum != 0);
  kernel::sgd_step(p, g, v, {lr, weight_decay, maximize}, {momentum, first ? 0 : dampening, nesterov});
}

void AdamOptions::check() const {
  const char* name = decoupled_weight_decay ? AdamWOptions::kName : kName;
  check_not_negative(name, {{"lr", lr}, {"eps", eps}, {"weight_decay", weight_decay}});
  for (const double beta : betas)
    heed::check(beta >= 0 && beta < 1, name, ": betas are ", betas[0], " and ", betas[1],
                "; each must be at least 0 and below 1");
}

void AdamOptions::update(const Tensor& p, const Tensor& g, OptimizerState& state) const {
  const Tensor m = state.remembered(0, p), v = state.remembered(1, p);
  const Tensor largest_v = state.remembered(2, p, amsgrad);
  kernel::adam_step(p, g, m, v, largest_v, {lr, weight_decay, maximize},
                    {betas[0], betas[1], eps, state.step, decoupled_weight_decay});
}

void RMSpropOptions::check() const {
  check_not_negative(
      kName,
      {{"lr", lr}, {"alpha", alpha}, {"eps", eps}, {"weight_decay", weight_decay}, {"momentum", momentum}});
}

void RMSpropOptions::update(const Tensor& p, const Tensor& g, OptimizerState& state) const {
  const Tensor v = state.remembered(0, p), mean = state.remembered(1, p, centered);
  const Tensor b = state.remembered(2, p, momentum > 0);
  kernel::rmsprop_step(p, g, v, mean, b, {lr, weight_decay, maximize}, {alpha, eps, momentum});
}

void AdagradOptions::check() const {
  check_not_negative(kName, {{"lr", lr},
                             {"lr_decay", lr_decay},
                             {"weight_decay", weight_decay},
                             {"initial_accumulator_value", initial_accumulator_value},
                             {"eps", eps}});
}

void AdagradOptions::update(const Tensor& p, const Tensor& g, OptimizerState& state) const {
  const Tensor sum = state.remembered(0, p, true, initial_accumulator_value);
  const double rate = lr / (1 + static_cast<double>(state.step - 1) * lr_decay);
  kernel::adagrad_step(p, g, sum, {rate, weight_decay, maximize}, eps);
}

}  // namespace heed
