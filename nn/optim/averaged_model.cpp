#include "nn/optim/averaged_model.h"

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/shape.h"
#include "tensor/create.h"

namespace heed {

constexpr const char* kCount = "n_averaged";
constexpr std::string_view kModule = "module.";

// Throws unless `state` has the names, shapes and dtypes of `mean`.
static void check_fits(const char* what, const StateDict& mean, const StateDict& state) {
  for (const auto& [name, x] : mean) {
    const auto found = state.find(name);
    check(found != state.end(), "AveragedModel: ", what, ": there is no ", name);
    check(found->second.shape() == x.shape() && found->second.dtype() == x.dtype(), "AveragedModel: ", what,
          ": ", name, " is ", found->second.dtype(), " ", found->second.shape(), "; it was ", x.dtype(), " ",
          x.shape());
  }
  for (const auto& [name, x] : state)
    check(mean.contains(name), "AveragedModel: ", what, ": ", name, " is of another model");
}

AveragedModel::AveragedModel(const Module& model, const AveragedModelOptions& options)
    : ema_decay_(options.ema_decay) {
  check(!ema_decay_ || (*ema_decay_ >= 0 && *ema_decay_ <= 1), "AveragedModel: ema_decay is ",
        ema_decay_.value_or(0), "; it must lie in [0, 1]");
  for (const auto& [name, x] : model.state_dict()) mean_[name] = clone(x.detach());
}

void AveragedModel::update_parameters(const Module& model) {
  const NoGrad guard;
  const StateDict state = model.state_dict();
  check_fits("update_parameters", mean_, state);
  StateDict moved;
  for (const auto& [name, mean] : mean_) {
    const Tensor p = state.at(name).detach();
    const bool averages = n_averaged_ > 0 && is_floating(mean.dtype());
    const double steps = ema_decay_ ? 1 / (1 - *ema_decay_) : static_cast<double>(n_averaged_ + 1);
    moved[name] = averages ? mean + (p - mean) / steps : clone(p);
  }
  mean_ = std::move(moved);
  ++n_averaged_;
}

StateDict AveragedModel::state_dict() const {
  StateDict state = {{kCount, tensor(n_averaged_, int64)}};
  for (const auto& [name, x] : mean_) state[std::string(kModule) + name] = x;
  return state;
}

void AveragedModel::load_state_dict(const StateDict& state) {
  StateDict rest = state, next;
  const Tensor given = rest[kCount];  // undefined if missing
  rest.erase(kCount);
  const bool whole = given.defined() && given.dtype() == int64 && given.numel() == 1;
  const int64_t count = whole ? given.item<int64_t>() : -1;
  check(count >= 0, "AveragedModel: load_state_dict: ", kCount, " is no count");
  for (const auto& [name, x] : rest) {
    check(name.starts_with(kModule), "AveragedModel: load_state_dict: ", name, " does not begin with ",
          kModule);
    next[name.substr(kModule.size())] = clone(x.detach());
  }
  check_fits("load_state_dict", mean_, next);
  mean_ = std::move(next);
  n_averaged_ = count;
}

}  // namespace heed
