#include "nn/optim/adaptive.h"

#include "tensor/kernels/optim.h"

// In each rule g_ is the gradient, negated for `maximize`, plus weight_decay p.
namespace heed {

template <bool decoupled>
void AnyAdamOptions<decoupled>::update(const Tensor& p, const Tensor& g,
                                       const ParamState& state) const noexcept {
  const auto [beta1, beta2] = betas;
  const double t = static_cast<double>(state.step);
  const double rate = lr / (1 - std::pow(beta1, t)), root = 1 / std::sqrt(1 - std::pow(beta2, t));
  const double shrink = decoupled ? 1 - lr * weight_decay : 1;
  const auto rule = [=, b1 = beta1, b2 = beta2, eps = eps]<class T>(T& p_, T g_, T& m, T& v,
                                                                    auto&... largest) {
    m = T(b1) * m + T(1 - b1) * g_;
    v = T(b2) * v + T(1 - b2) * g_ * g_;
    T square = v;
    ((square = largest = v > largest ? v : largest), ...);
    p_ = T(shrink) * p_ - T(rate) * m / (std::sqrt(square) * T(root) + T(eps));
  };
  const double sign = maximize ? -1 : 1, decay = decoupled ? 0 : weight_decay;
  const Tensor &m = state.tensors[0], &v = state.tensors[1];
  amsgrad ? kernel::sweep(p, g, sign, decay, rule, m, v, state.tensors[2])
          : kernel::sweep(p, g, sign, decay, rule, m, v);
}

template struct AnyAdamOptions<false>;
template struct AnyAdamOptions<true>;

void RMSpropOptions::update(const Tensor& p, const Tensor& g, const ParamState& state) const noexcept {
  const auto rule = [o = *this]<class T>(T& p_, T g_, T& v, T& m, T& b) {
    v = T(o.alpha) * v + T(1 - o.alpha) * g_ * g_;
    if (o.centered) m = T(o.alpha) * m + T(1 - o.alpha) * g_;
    b = T(o.momentum) * b + g_ / (std::sqrt(v - m * m) + T(o.eps));
    p_ -= T(o.lr) * b;
  };
  const Tensor none;
  kernel::sweep(p, g, maximize ? -1 : 1, weight_decay, rule, state.tensors[0],
                kernel::OrZero{centered ? state.tensors[1] : none},
                kernel::OrZero{momentum > 0 ? state.tensors[2] : none});
}

void AdagradOptions::update(const Tensor& p, const Tensor& g, const ParamState& state) const noexcept {
  const double rate = lr / (1 + static_cast<double>(state.step - 1) * lr_decay);
  const auto rule = [rate, eps = eps]<class T>(T& p_, T g_, T& s) {
    s += g_ * g_;
    p_ -= T(rate) * g_ / (std::sqrt(s) + T(eps));
  };
  kernel::sweep(p, g, maximize ? -1 : 1, weight_decay, rule, state.tensors[0]);
}

}  // namespace heed
