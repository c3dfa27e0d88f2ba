#pragma once

#include "nn/optim/optimizer.h"

/// Stochastic gradient descent.
namespace heed {

/// Options of SGD.
struct SGDOptions {
  double lr = 1e-3;         ///< learning rate, at least 0
  double momentum = 0;      ///< decay of v
  double dampening = 0;     ///< part of the gradient that v leaves out
  double weight_decay = 0;  ///< adds weight_decay p to the gradient
  bool nesterov = false;    ///< needs momentum and no dampening
  bool maximize = false;    ///< maximizes instead of minimizing

  static constexpr const char* kName = "SGD";
  void check() const {
    check_in(kName, lr >= 0 && momentum >= 0 && weight_decay >= 0, "lr ", lr, ", momentum ", momentum,
             ", weight_decay ", weight_decay, "; none may be negative");
    check_in(kName, !nesterov || (momentum > 0 && dampening == 0), "nesterov with momentum ", momentum,
             " and dampening ", dampening, "; it needs a momentum and no dampening");
  }
  std::vector<StateSlot> slots() const { return {{"momentum_buffer", momentum != 0}}; }
  void update(const Tensor& p, const Tensor& g, const ParamState& state) const noexcept;
};

/// Stochastic gradient descent: p <- p - lr g. With momentum, v accumulates the gradients:
///
///   v <- momentum v + (1 - dampening) g   (v <- g at the first step)
///   p <- p - lr v                         Nesterov: p <- p - lr (g + momentum v)
using SGD = OptimizerOf<SGDOptions>;

}  // namespace heed
