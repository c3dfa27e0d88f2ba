// The state of an optimizer: groups of parameters, learning rates, and the state dict of all.

#include "nn/optim/optimizer.h"
#include "tensor/kernels/elementwise.h"

namespace heed {

static void check_lr(const char* optimizer, double lr) {
  check_in(optimizer, lr >= 0, "a learning rate of ", lr, "; it must be at least 0");
}

void Optimizer::add_group(const std::vector<Tensor>& params) {
  check_in(name_, !params.empty(), "a group without parameters; is visit() of the model missing a line?");
  std::vector<Entry> all = entries_;
  for (const Tensor& p : params) {
    check_in(name_, p.defined() && is_floating(p.dtype()) && p.is_leaf(), "parameter ", all.size(),
             " is not a floating leaf; optimize the leaves that a result was computed from");
    check_in(name_, std::ranges::none_of(all, [&](const Entry& other) { return other.p.same_as(p); }),
             "parameter ", all.size(), " of shape ", p.shape(), " appears twice; give each once");
    all.push_back({groups_, p, {}});
  }
  entries_ = std::move(all);
  ++groups_;
}

std::vector<Tensor> Optimizer::params(std::optional<size_t> group) const {
  std::vector<Tensor> found;
  for (const Entry& entry : entries_)
    if (!group || entry.group == group) found.push_back(entry.p);
  check_in(name_, !group || *group < groups_, "group ", group.value_or(0), " of ", groups_,
           "; they count from 0");
  return found;
}

void Optimizer::set_lr(size_t group, double lr) {
  check_lr(name_, lr);
  lr_of(group) = lr;
}

PreparedLoad Optimizer::prepare_lr(std::vector<double> rates) {
  check_in(name_, rates.size() == groups_, rates.size(), " learning rates for ", groups_, " groups");
  for (const double lr : rates) check_lr(name_, lr);
  return PreparedLoad([this, rates = std::move(rates)] {
    for (size_t group = 0; group < rates.size(); ++group) lr_of(group) = rates[group];
  });
}

StateDict Optimizer::state_dict() const {
  StateDict result;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const ParamState& state = entries_[i].state;
    if (state.step == 0) continue;
    const std::string prefix = std::to_string(i) + ".";
    const std::vector<StateSlot> slots = this->slots(entries_[i].group);
    result[prefix + "step"] = kernel::full({}, state.step, int64);
    for (size_t slot = 0; slot < state.tensors.size(); ++slot)
      if (state.tensors[slot].defined()) result[prefix + slots[slot].name] = state.tensors[slot];
  }
  for (size_t group = 0; group < groups_; ++group)
    result["lr." + std::to_string(group)] = kernel::full({}, lr(group), float64);
  return result;
}

PreparedLoad Optimizer::prepare_load(const StateDict& state) {
  StateDict rest = state;
  const auto take = [&](const std::string& name) {
    Tensor x = rest.contains(name) ? rest.at(name) : Tensor();
    if (x.defined()) rest.erase(name);
    return x;
  };
  std::vector<ParamState> states;
  for (const Entry& entry : entries_) {
    const std::string prefix = std::to_string(states.size()) + ".";
    ParamState& own = states.emplace_back();
    if (const Tensor step = take(prefix + "step"); step.defined()) {
      const double count = step.item();
      check_in(name_, count >= 0 && count < 0x1p53 && count == std::floor(count), "load_state_dict: ", prefix,
               "step is ", count, "; it must be a whole number from 0");
      own.step = static_cast<int64_t>(count);
    }
    for (const StateSlot& slot : slots(entry.group)) {
      Tensor& x = own.tensors.emplace_back(take(prefix + slot.name));
      if (!x.defined()) continue;
      check_in(name_, x.shape() == entry.p.shape(), "load_state_dict: ", prefix, slot.name, " has shape ",
               x.shape(), " and the parameter ", entry.p.shape());
      check_in(name_, is_floating(x.dtype()), "load_state_dict: ", prefix, slot.name, " is ", x.dtype(),
               "; it must be float32 or float64");
      x = kernel::cast(x, entry.p.dtype());
    }
  }
  std::vector<double> rates;
  for (size_t group = 0; group < groups_; ++group) {
    const Tensor rate = take("lr." + std::to_string(group));
    rates.push_back(rate.defined() ? rate.item() : lr(group));
  }
  PreparedLoad load_rates = prepare_lr(std::move(rates));
  check_in(name_, rest.empty(), "load_state_dict: ", rest.size(), " of ", state.size(),
           " entries do not belong to ", entries_.size(), " parameters in ", groups_, " groups of a ", name_);
  return PreparedLoad([this, load_rates, states = std::move(states)]() mutable {
    load_rates.commit();
    for (size_t i = 0; i < states.size(); ++i) entries_[i].state = std::move(states[i]);
  });
}

}  // namespace heed
