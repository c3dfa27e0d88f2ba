#include "nn/optim/optimizer.h"

#include <algorithm>

#include "autograd/grad_mode.h"
#include "tensor/create.h"
#include "tensor/kernels/elementwise.h"

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
      p.body().storage->wrote(name_, line);
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

}  // namespace heed
