#include "nn/optim/sgd.h"

#include "tensor/kernels/optim.h"

namespace heed {

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
