#pragma once

#include <array>

#include "nn/optim/optimizer.h"

/// Optimizers whose steps are scaled by the gradients so far: Adam, AdamW, RMSprop, Adagrad.
namespace heed {

/// Options of Adam, or, decoupled, of AdamW.
template <bool decoupled>
struct AnyAdamOptions {
  double lr = 1e-3;                            ///< learning rate, at least 0
  std::array<double, 2> betas = {0.9, 0.999};  ///< decay of the running means, in [0, 1)
  double eps = 1e-8;                           ///< added to the denominator
  double weight_decay = decoupled ? 0.01 : 0;  ///< adds weight_decay p to the gradient; decoupled: shrinks p
  bool amsgrad = false;                        ///< uses the maximum of v so far instead of v
  bool maximize = false;                       ///< ascends instead of descending

  static constexpr const char* kName = decoupled ? "AdamW" : "Adam";
  void check() const {
    check_in(kName, lr >= 0 && eps >= 0 && weight_decay >= 0, "lr ", lr, ", eps ", eps, ", weight_decay ",
             weight_decay, "; none may be negative");
    for (const double beta : betas)
      check_in(kName, beta >= 0 && beta < 1, "betas are ", betas[0], " and ", betas[1],
               "; each must be at least 0 and below 1");
  }
  std::vector<StateSlot> slots() const { return {{"exp_avg"}, {"exp_avg_sq"}, {"max_exp_avg_sq", amsgrad}}; }
  void update(const Tensor& p, const Tensor& g, const ParamState& state) const noexcept;
};
using AdamOptions = AnyAdamOptions<false>;  ///< options of Adam
using AdamWOptions = AnyAdamOptions<true>;  ///< options of AdamW

/// Adam (Kingma and Ba, 2015): steps of about lr, scaled by running means of the gradient and its square.
///
///   m <- beta1 m + (1 - beta1) g,  v <- beta2 v + (1 - beta2) g^2
///   p <- p - lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)
using Adam = OptimizerOf<AdamOptions>;

/// Adam with decoupled weight decay (Loshchilov and Hutter, 2019): the decay shrinks the parameter itself and
/// does not pass through the moments.
///
///   p <- p - lr weight_decay p before the step of Adam
using AdamW = OptimizerOf<AdamWOptions>;

/// Options of RMSprop.
struct RMSpropOptions {
  double lr = 1e-2;         ///< learning rate, at least 0
  double alpha = 0.99;      ///< decay of the running means
  double eps = 1e-8;        ///< added to the denominator
  double weight_decay = 0;  ///< adds weight_decay p to the gradient
  double momentum = 0;      ///< share of the last step that is kept
  bool centered = false;    ///< subtracts the square of the mean gradient from v
  bool maximize = false;    ///< ascends instead of descending

  static constexpr const char* kName = "RMSprop";
  void check() const {
    check_in(kName, lr >= 0 && alpha >= 0 && eps >= 0 && weight_decay >= 0 && momentum >= 0, "lr ", lr,
             ", alpha ", alpha, ", eps ", eps, ", weight_decay ", weight_decay, ", momentum ", momentum,
             "; none may be negative");
  }
  std::vector<StateSlot> slots() const {
    return {{"square_avg"}, {"grad_avg", centered}, {"momentum_buffer", momentum > 0}};
  }
  void update(const Tensor& p, const Tensor& g, const ParamState& state) const noexcept;
};

/// RMSprop (Hinton, 2012): the gradient over the root of a running mean of its square.
///
///   v <- alpha v + (1 - alpha) g^2,  p <- p - lr g / (sqrt(v) + eps)
///
/// With momentum, b <- momentum b + g / (sqrt(v) + eps) and p <- p - lr b.
using RMSprop = OptimizerOf<RMSpropOptions>;

/// Options of Adagrad.
struct AdagradOptions {
  double lr = 1e-2;                      ///< learning rate, at least 0
  double lr_decay = 0;                   ///< step t has the rate lr / (1 + (t - 1) lr_decay)
  double weight_decay = 0;               ///< adds weight_decay p to the gradient
  double initial_accumulator_value = 0;  ///< s before the first step
  double eps = 1e-10;                    ///< added to the denominator
  bool maximize = false;                 ///< ascends instead of descending

  static constexpr const char* kName = "Adagrad";
  void check() const {
    check_in(
        kName, lr >= 0 && lr_decay >= 0 && weight_decay >= 0 && initial_accumulator_value >= 0 && eps >= 0,
        "lr ", lr, ", lr_decay ", lr_decay, ", weight_decay ", weight_decay, ", initial_accumulator_value ",
        initial_accumulator_value, ", eps ", eps, "; none may be negative");
  }
  std::vector<StateSlot> slots() const { return {{"sum", true, initial_accumulator_value}}; }
  void update(const Tensor& p, const Tensor& g, const ParamState& state) const noexcept;
};

/// Adagrad (Duchi, Hazan and Singer, 2011): the gradient over the root of the sum of all its squares.
///
///   s <- s + g^2,  p <- p - lr g / (sqrt(s) + eps)
using Adagrad = OptimizerOf<AdagradOptions>;

}  // namespace heed
