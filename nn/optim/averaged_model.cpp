#include "nn/optim/averaged_model.h"

#include "autograd/grad_mode.h"
#include "autograd/ops/in_place.h"
#include "autograd/ops/shape.h"
#include "tensor/create.h"

namespace heed {
namespace {

// Returns copies of the tensors of `state`. Throws unless it has the names, shapes and dtypes of `own`.
StateDict copy_of(const StateDict& state, const char* op, const StateDict& own) {
  StateDict copy;
  for (const auto& [name, x] : own) {
    const auto found = state.find(name);
    check(found != state.end(), "AveragedModel: ", op, ": there is no ", name);
    const Tensor& given = found->second;
    check(given.shape() == x.shape() && given.dtype() == x.dtype(), "AveragedModel: ", op, ": ", name, " is ",
          given.dtype(), " ", given.shape(), "; it was ", x.dtype(), " ", x.shape());
    copy[name] = clone(given.detach());
  }
  for (const auto& [name, x] : state)
    check(own.contains(name), "AveragedModel: ", op, ": ", name, " is of another model");
  return copy;
}

}  // namespace

AveragedModel::AveragedModel(const Module& model) {
  for (const auto& [name, x] : model.state_dict()) mean_[name] = clone(x.detach());
}

void AveragedModel::update_parameters(const Module& model) {
  const NoGrad guard;
  StateDict next = copy_of(model.state_dict(), "update_parameters", mean_);
  for (const auto& [name, mean] : mean_) {
    if (n_averaged_ == 0 || !is_floating(mean.dtype())) continue;
    sub_(next[name], mean);
    div_(next[name], n_averaged_ + 1);
    add_(next[name], mean);
  }
  mean_ = std::move(next);
  ++n_averaged_;
}

StateDict AveragedModel::state_dict() const {
  StateDict state = {{"n_averaged", tensor(n_averaged_, int64)}};
  for (const auto& [name, x] : mean_) state["module." + name] = x;
  return state;
}

void AveragedModel::load_state_dict(const StateDict& state) {
  StateDict copy = copy_of(state, "load_state_dict", state_dict());
  const auto count = copy.at("n_averaged").item<int64_t>();
  check(count >= 0, "AveragedModel: load_state_dict: n_averaged is ", count, "; it must not be negative");
  for (auto& [name, x] : mean_) x = copy.at("module." + name);
  n_averaged_ = count;
}

}  // namespace heed
