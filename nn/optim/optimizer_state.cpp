// The state dict of an optimizer, and loading it.

#include "nn/optim/optimizer.h"
#include "tensor/kernels/elementwise.h"

namespace heed {

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
  std::vector<ParamState> states;
  for (const Entry& entry : entries_) {
    const std::string prefix = std::to_string(states.size()) + ".";
    ParamState& own = states.emplace_back();
    if (const auto step = rest.extract(prefix + "step")) {
      const auto count = step.mapped().item();
      check_in(name_, count >= 0 && count < 0x1p53 && count == std::floor(count), "load_state_dict: ", prefix,
               "step is ", count, "; it must be a whole number from 0");
      own.step = static_cast<int64_t>(count);
    }
    for (const StateSlot& slot : slots(entry.group)) {
      Tensor& x = own.tensors.emplace_back();
      const auto given = rest.extract(prefix + slot.name);
      if (!given) continue;
      const Tensor& value = given.mapped();
      check_in(name_, value.shape() == entry.p.shape(), "load_state_dict: ", prefix, slot.name, " has shape ",
               value.shape(), " and the parameter ", entry.p.shape());
      check_in(name_, is_floating(value.dtype()), "load_state_dict: ", prefix, slot.name, " is ",
               value.dtype(), "; it must be float32 or float64");
      x = kernel::cast(value, entry.p.dtype());
    }
  }
  std::vector<double> rates;
  for (size_t group = 0; group < groups_; ++group) {
    const auto rate = rest.extract("lr." + std::to_string(group));
    rates.push_back(rate ? rate.mapped().item() : lr(group));
    check_lr(rates.back());
  }
  check_in(name_, rest.empty(), "load_state_dict: ", rest.size(), " of ", state.size(),
           " entries do not belong to ", entries_.size(), " parameters in ", groups_, " groups of a ", name_);
  return PreparedLoad([this, rates = std::move(rates), states = std::move(states)]() mutable {
    for (size_t group = 0; group < rates.size(); ++group) lr_of(group) = rates[group];
    for (size_t i = 0; i < states.size(); ++i) entries_[i].state = std::move(states[i]);
  });
}

}  // namespace heed
