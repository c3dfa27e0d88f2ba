#include "nn/optim/optimizer.h"

#include "autograd/grad_mode.h"
#include "tensor/create.h"
#include "tensor/kernels/optim.h"
#include "tensor/table.h"

namespace heed {

void Optimizer::add_group(const std::vector<Tensor>& params) {
  check(!params.empty(), name_, ": a group without parameters; is visit() of the model missing a line?");
  std::vector<Entry> all = entries_;
  for (const Tensor& p : params) {
    check(p.defined() && is_floating(p.dtype()) && p.is_leaf(), name_, ": parameter ", all.size(),
          " is not a floating leaf; optimise the leaves that a result was computed from");
    check(std::ranges::none_of(all, [&](const Entry& other) { return other.p.same_as(p); }), name_,
          ": parameter ", all.size(), " of shape ", p.shape(), " is there twice; give each once");
    all.push_back({groups_, p, {}});
  }
  entries_ = std::move(all);
  ++groups_;
}

std::vector<Tensor> Optimizer::params(size_t group) const {
  std::vector<Tensor> found;
  for (const Entry& entry : entries_)
    if (entry.group == group) found.push_back(entry.p);
  check(!found.empty(), name_, ": group ", group, " of ", groups_, "; they count from 0");
  return found;
}

void Optimizer::step(SourceLocation line) {
  const OpScope scope(name_, line);
  const NoGrad guard;
  struct Ready {
    Entry* entry;
    Tensor values;
    OptimizerState state;
    std::function<void()> move;
  };
  std::vector<Ready> all;  // before the first value changes, so that all do or none
  for (size_t place = 0; place < entries_.size(); ++place) {
    const auto& [group, p, before] = entries_[place];
    const Tensor g = p.grad();
    if (!g.defined()) continue;
    check(g.shape() == p.shape() && g.dtype() == p.dtype(), name_, ": parameter ", place, " is ", p.dtype(),
          " ", p.shape(), " and its gradient ", g.dtype(), " ", g.shape());
    OptimizerState state = before;
    for (Tensor& memory : state.tensors)  // the model may have changed its dtype
      if (memory.defined() && memory.dtype() != p.dtype()) memory = kernel::cast(memory, p.dtype());
    ++state.step;
    const Tensor values = kernel::contiguous(p.detach());
    std::function<void()> move = step_one(group, values, g.detach(), state);
    all.push_back({&entries_[place], values, std::move(state), std::move(move)});
  }
  for (Ready& ready : all) {
    const Tensor& p = ready.entry->p;
    ready.move();
    ready.entry->state = std::move(ready.state);
    if (!p.is_contiguous()) kernel::copy_into(p, ready.values);
    TensorImpl::of(p).storage->wrote(name_, line);
  }
}

void Optimizer::zero_grad() const {
  for (const Entry& entry : entries_)
    if (entry.p.requires_grad()) entry.p.set_grad({});  // a frozen one has none
}

void Optimizer::set_lr(const std::vector<double>& rates) {
  check(rates.size() == groups(), name_, ": ", rates.size(), " learning rates for ", groups(), " groups");
  for (const double lr : rates) check_lr(lr);
  for (size_t group = 0; group < groups(); ++group) lr_of(group) = rates[group];
}

void Optimizer::check_lr(double lr) const {
  check(lr >= 0, name_, ": a learning rate of ", lr, "; it must be at least 0");
}

Tensor OptimizerState::remembered(size_t slot, const Tensor& p, double value) {
  if (!tensors[slot].defined()) tensors[slot] = kernel::full(p.shape(), value, p.dtype());
  return tensors[slot];
}

StateDict Optimizer::state_dict() const {
  StateDict result;
  for (size_t place = 0; place < entries_.size(); ++place) {
    const std::string prefix = std::to_string(place) + ".";
    const OptimizerState& state = entries_[place].state;
    if (state.step == 0) continue;
    result[prefix + "step"] = kernel::full({}, static_cast<double>(state.step), int64);
    for (size_t slot = 0; slot < memory_.size(); ++slot)
      if (state.tensors[slot].defined()) result[prefix + memory_[slot]] = state.tensors[slot];
  }
  for (size_t group = 0; group < groups_; ++group)
    result["lr." + std::to_string(group)] = kernel::full({}, lr(group), float64);
  return result;
}

PreparedLoad Optimizer::prepare_load(const StateDict& state) {
  StateDict rest = state;
  std::vector<Entry> entries = entries_;
  for (size_t place = 0; place < entries.size(); ++place) {
    const std::string prefix = std::to_string(place) + ".";
    const Tensor& p = entries[place].p;
    OptimizerState& own = entries[place].state = {};
    if (const auto step = rest.extract(prefix + "step")) {
      const auto count = step.mapped().item();
      check(count >= 0 && count < 0x1p53 && count == std::floor(count), name_, ": load_state_dict: ", prefix,
            "step is ", count, "; it must be a whole number from 0");
      own.step = static_cast<int64_t>(count);
    }
    for (size_t slot = 0; slot < memory_.size() && memory_[slot]; ++slot)
      if (const auto memory = rest.extract(prefix + memory_[slot])) {
        check(memory.mapped().shape() == p.shape(), name_, ": load_state_dict: ", prefix, memory_[slot],
              " has shape ", memory.mapped().shape(), " and the parameter ", p.shape());
        own.tensors[slot] = kernel::cast(memory.mapped(), p.dtype());
      }
  }
  std::vector<double> rates;
  for (size_t group = 0; group < groups_; ++group) {
    const auto rate = rest.extract("lr." + std::to_string(group));
    rates.push_back(rate ? rate.mapped().item() : lr(group));
    check_lr(rates.back());
  }
  check(rest.empty(), name_, ": load_state_dict: ", rest.size(), " of ", state.size(),
        " entries do not belong to ", entries.size(), " parameters in ", groups_, " groups of a ", name_);
  return PreparedLoad([this, rates = std::move(rates), entries = std::move(entries)]() mutable {
    for (size_t group = 0; group < rates.size(); ++group) lr_of(group) = rates[group];
    entries_ = std::move(entries);
  });
}

namespace {

void refuse_negative(const char* optimizer, std::initializer_list<std::pair<const char*, double>> options) {
  std::vector<std::string> all;
  for (const auto& [name, value] : options) all.push_back(std::string(name) + " " + to_string(value));
  for (const auto& [name, value] : options)
    check(value >= 0, optimizer, ": ", detail::listed(all), "; none may be negative");
}

}  // namespace

void SGDOptions::check() const {
  refuse_negative(kName, {{"lr", lr}, {"momentum", momentum}, {"weight_decay", weight_decay}});
  heed::check(!nesterov || (momentum > 0 && dampening == 0), "SGD: nesterov with momentum ", momentum,
              " and dampening ", dampening, "; it needs a momentum and no dampening");
}

std::function<void()> SGDOptions::update(const Tensor& p, const Tensor& g, OptimizerState& state) const {
  const bool first = !state.tensors[0].defined();
  return visit_floating(p.dtype(), [&]<class T>(Type<T>) {
    const T rate(lr), keep(momentum), fresh(first ? 1 : 1 - dampening);
    const auto plain = [=](T& p_, T g_) { p_ -= rate * g_; };
    const auto with_momentum = [=, ahead = nesterov](T& p_, T g_, T& v) {
      v = keep * v + fresh * g_;
      p_ -= rate * (ahead ? g_ + keep * v : v);
    };
    const T sign(maximize ? -1 : 1), decay(weight_decay);
    return momentum != 0 ? kernel::sweep(p, g, sign, decay, with_momentum, state.remembered(0, p))
                         : kernel::sweep(p, g, sign, decay, plain);
  });
}

template <bool decoupled>
void AnyAdamOptions<decoupled>::check() const {
  refuse_negative(kName, {{"lr", lr}, {"eps", eps}, {"weight_decay", weight_decay}});
  for (const double beta : betas)
    heed::check(beta >= 0 && beta < 1, kName, ": betas are ", betas[0], " and ", betas[1],
                "; each must be at least 0 and below 1");
}

template <bool decoupled>
std::function<void()> AnyAdamOptions<decoupled>::update(const Tensor& p, const Tensor& g,
                                                        OptimizerState& state) const {
  const Tensor mean = state.remembered(0, p), square = state.remembered(1, p);
  const double t = static_cast<double>(state.step);
  const double correction1 = 1 - std::pow(betas[0], t), correction2 = 1 - std::pow(betas[1], t);
  return visit_floating(p.dtype(), [&]<class T>(Type<T>) {
    const T beta1(betas[0]), fresh1(1 - betas[0]), beta2(betas[1]), fresh2(1 - betas[1]);
    const T keep(decoupled ? 1 - lr * weight_decay : 1);
    const T size(lr / correction1), root(1 / std::sqrt(correction2)), least(eps);
    const auto move = [=](T& p_, T g_, T& m, T& v, auto&... largest) {
      m = beta1 * m + fresh1 * g_;
      v = beta2 * v + fresh2 * g_ * g_;
      T spread = v;
      [[maybe_unused]] const auto raise = [&](T& most) { spread = most = v > most ? v : most; };
      (raise(largest), ...);
      p_ = keep * p_ - size * m / (std::sqrt(spread) * root + least);
    };
    const T sign(maximize ? -1 : 1), decay(decoupled ? 0 : weight_decay);
    return amsgrad ? kernel::sweep(p, g, sign, decay, move, mean, square, state.remembered(2, p))
                   : kernel::sweep(p, g, sign, decay, move, mean, square);
  });
}

template struct AnyAdamOptions<false>;
template struct AnyAdamOptions<true>;

void RMSpropOptions::check() const {
  refuse_negative(
      kName,
      {{"lr", lr}, {"alpha", alpha}, {"eps", eps}, {"weight_decay", weight_decay}, {"momentum", momentum}});
}

std::function<void()> RMSpropOptions::update(const Tensor& p, const Tensor& g, OptimizerState& state) const {
  const Tensor square = state.remembered(0, p);
  return visit_floating(p.dtype(), [&]<class T>(Type<T>) {
    const T keep(alpha), fresh(1 - alpha), rate(lr), carry(momentum), least(eps);
    const T sign(maximize ? -1 : 1), decay(weight_decay);
    // m and b stay 0 where they are not remembered.
    const auto move = [=, has_mean = centered](T& p_, T g_, T& v, T& m, T& b) {
      v = keep * v + fresh * g_ * g_;
      if (has_mean) m = keep * m + fresh * g_;
      b = carry * b + g_ / (std::sqrt(v - m * m) + least);
      p_ -= rate * b;
    };
    const auto with_mean = [=](T& p_, T g_, T& v, T& m) {
      T b = 0;
      move(p_, g_, v, m, b);
    };
    const auto with_momentum = [=](T& p_, T g_, T& v, T& b) {
      T m = 0;
      move(p_, g_, v, m, b);
    };
    const auto plain = [=](T& p_, T g_, T& v) {
      T m = 0;
      with_mean(p_, g_, v, m);
    };
    const auto go = [&](const auto& f, const auto&... memory) {
      return kernel::sweep(p, g, sign, decay, f, square, memory...);
    };
    if (momentum > 0 && centered) return go(move, state.remembered(1, p), state.remembered(2, p));
    if (momentum > 0) return go(with_momentum, state.remembered(2, p));
    return centered ? go(with_mean, state.remembered(1, p)) : go(plain);
  });
}

void AdagradOptions::check() const {
  refuse_negative(kName, {{"lr", lr},
                          {"lr_decay", lr_decay},
                          {"weight_decay", weight_decay},
                          {"initial_accumulator_value", initial_accumulator_value},
                          {"eps", eps}});
}

std::function<void()> AdagradOptions::update(const Tensor& p, const Tensor& g, OptimizerState& state) const {
  const Tensor sum = state.remembered(0, p, initial_accumulator_value);
  const double decayed_lr = lr / (1 + static_cast<double>(state.step - 1) * lr_decay);
  return visit_floating(p.dtype(), [&]<class T>(Type<T>) {
    const T rate(decayed_lr), least(eps), sign(maximize ? -1 : 1), decay(weight_decay);
    const auto move = [=](T& p_, T g_, T& s) {
      s += g_ * g_;
      p_ -= rate * g_ / (std::sqrt(s) + least);
    };
    return kernel::sweep(p, g, sign, decay, move, sum);
  });
}

}  // namespace heed
