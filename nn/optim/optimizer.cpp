#include "nn/optim/optimizer.h"

#include "autograd/grad_mode.h"
#include "tensor/kernels/elementwise.h"

namespace heed {

void Optimizer::step(SourceLocation line) {
  const OpScope scope(name_, line);
  const NoGrad guard;
  struct Update {
    Entry& entry;
    Tensor p, g;
    ParamState state;
  };
  std::vector<Update> updates;
  for (Entry& entry : entries_) {  // allocates, and may throw
    const Tensor &p = entry.p, g = p.grad();
    if (!g.defined()) continue;
    check_in(name_, g.shape() == p.shape() && g.dtype() == p.dtype(), "parameter ", &entry - entries_.data(),
             " is ", p.dtype(), " ", p.shape(), " and its gradient ", g.dtype(), " ", g.shape());
    updates.push_back({entry, kernel::contiguous(p), kernel::contiguous(g), next_state(entry)});
  }
  for (auto& [entry, p, g, state] : updates) {  // does not throw
    update(entry.group, p, g, state);
    if (!entry.p.is_contiguous()) kernel::copy_into(entry.p, p);
    entry.state = std::move(state);
    TensorImpl::of(entry.p).storage->wrote(name_, line);
  }
}

// Returns the state for the next update. Allocates missing tensors, and converts those of another dtype,
// since the model may have changed its dtype.
ParamState Optimizer::next_state(const Entry& entry) const {
  const std::vector<StateSlot> slots = this->slots(entry.group);
  ParamState state = entry.state;
  ++state.step;
  state.created = false;
  state.tensors.resize(slots.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    Tensor& x = state.tensors[i];
    if (x.defined() && x.dtype() != entry.p.dtype()) x = kernel::cast(x, entry.p.dtype());
    if (x.defined() || !slots[i].used) continue;
    x = kernel::full(entry.p.shape(), slots[i].start, entry.p.dtype());
    state.created = true;
  }
  return state;
}

void Optimizer::zero_grad() const {
  for (const Entry& entry : entries_)
    if (entry.p.requires_grad()) entry.p.set_grad({});  // a frozen one has none
}

}  // namespace heed
