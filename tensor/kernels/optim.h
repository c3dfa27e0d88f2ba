#pragma once

#include "tensor/tensor.h"

/// The steps of the optimisers, those of SGD and Adam in one pass over their tensors. `p` is the parameter, `g` its
/// gradient, the others what the optimiser remembers; all have one shape and floating dtype, all but `g` are
/// written and contiguous. An undefined tensor of memory means that the option it belongs to is off. Nothing here
/// counts as a write for Note [Versions]; the caller says who wrote.
namespace heed::kernel {

/// g <- g + weight_decay p (or -g + ... to maximise), as every step starts.
struct StepOptions {
  double lr;
  double weight_decay;
  bool maximize;
};

/// v <- momentum v + (1 - dampening) g,  p <- p - lr v; nesterov: p <- p - lr (g + momentum v).
struct MomentumStep {
  double momentum, dampening;
  bool nesterov;
};
void sgd_step(const Tensor& p, const Tensor& g, const Tensor& v, const StepOptions& step,
              const MomentumStep& momentum);

/// m <- beta1 m + (1 - beta1) g,  v <- beta2 v + (1 - beta2) g^2,
/// p <- p - lr m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + eps); amsgrad: the largest v so far.
struct AdamStep {
  double beta1, beta2, eps;
  int64_t t;       // number of this step, from 1
  bool decoupled;  // p <- p - lr weight_decay p before the step, instead of decay in the gradient
};
void adam_step(const Tensor& p, const Tensor& g, const Tensor& m, const Tensor& v, const Tensor& largest_v,
               const StepOptions& step, const AdamStep& adam);

/// v <- alpha v + (1 - alpha) g^2,  d = g / (sqrt(v) + eps); centered: v less the square of the mean of g;
/// p <- p - lr d, or with momentum b <- momentum b + d,  p <- p - lr b.
struct RMSpropStep {
  double alpha, eps, momentum;
};
void rmsprop_step(const Tensor& p, const Tensor& g, const Tensor& v, const Tensor& mean, const Tensor& b,
                  const StepOptions& step, const RMSpropStep& rmsprop);

/// s <- s + g^2,  p <- p - lr g / (sqrt(s) + eps)
void adagrad_step(const Tensor& p, const Tensor& g, const Tensor& s, const StepOptions& step, double eps);

/// sum |x|^p; the largest |x| for p = infinity, the number of non-zeros for p = 0. Summed in float64.
double sum_of_powers(const Tensor& x, double p);

}  // namespace heed::kernel
