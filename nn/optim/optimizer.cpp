#include "nn/optim/optimizer.h"

#include "autograd/grad_mode.h"
#include "tensor/kernels/optim.h"

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
  for (Entry& entry : entries_) {
    const Tensor &p = entry.p, g = p.grad();
    if (!g.defined()) continue;
    check_in(name_, g.shape() == p.shape() && g.dtype() == p.dtype(), "parameter ", &entry - entries_.data(),
             " is ", p.dtype(), " ", p.shape(), " and its gradient ", g.dtype(), " ", g.shape());
    updates.push_back({entry, kernel::contiguous(p), kernel::contiguous(g), next_state(entry)});
  }
  for (Update& next : updates) {  // nothing throws from here on
    Entry& entry = next.entry;
    update(entry.group, next.p, next.g, next.state);
    if (!entry.p.is_contiguous()) kernel::copy_into(entry.p, next.p);
    entry.state = std::move(next.state);
    TensorImpl::of(entry.p).storage->wrote(name_, line);
  }
}

// The state for the next update: tensors that are missing are allocated, and those of another dtype are
// converted, since the model may have changed its own.
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

std::vector<Tensor> Optimizer::params(size_t group) const {
  std::vector<Tensor> found;
  for (const Entry& entry : entries_)
    if (entry.group == group) found.push_back(entry.p);
  check_in(name_, !found.empty(), "group ", group, " of ", groups_, "; they count from 0");
  return found;
}

void Optimizer::check_lr(double lr) const {
  check_in(name_, lr >= 0, "a learning rate of ", lr, "; it must be at least 0");
}

void Optimizer::set_lr(size_t group, double lr) {
  check_lr(lr);
  lr_of(group) = lr;
}

void Optimizer::set_lr(const std::vector<double>& rates) {
  check_in(name_, rates.size() == groups(), rates.size(), " learning rates for ", groups(), " groups");
  for (const double lr : rates) check_lr(lr);
  for (size_t group = 0; group < groups(); ++group) lr_of(group) = rates[group];
}

void detail::check_not_negative(const char* optimizer,
                                std::initializer_list<std::pair<const char*, double>> options) {
  std::string all;
  bool valid = true;
  for (const auto& [name, value] : options) {
    all += detail::text(all.empty() ? "" : ", ", name, " ", value);
    valid = valid && value >= 0;
  }
  check_in(optimizer, valid, all, "; none may be negative");
}

void SGDOptions::check() const {
  detail::check_not_negative(kName, {{"lr", lr}, {"momentum", momentum}, {"weight_decay", weight_decay}});
  heed::check_in(kName, !nesterov || (momentum > 0 && dampening == 0), "nesterov with momentum ", momentum,
                 " and dampening ", dampening, "; it needs a momentum and no dampening");
}

void SGDOptions::update(const Tensor& p, const Tensor& g, const ParamState& state) const noexcept {
  const double sign = maximize ? -1 : 1, fresh = state.created ? 1 : 1 - dampening;
  const auto plain = [lr = lr]<class T>(T& p_, T g_) { p_ -= T(lr) * g_; };
  const auto with_momentum = [=, *this]<class T>(T& p_, T g_, T& v) {
    v = T(momentum) * v + T(fresh) * g_;
    p_ -= T(lr) * (nesterov ? g_ + T(momentum) * v : v);
  };
  if (momentum == 0) return kernel::sweep(p, g, sign, weight_decay, plain);
  kernel::sweep(p, g, sign, weight_decay, with_momentum, state.tensors[0]);
}

}  // namespace heed
