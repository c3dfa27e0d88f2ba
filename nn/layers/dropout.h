#pragma once

#include "nn/functional.h"
#include "nn/module.h"

/// Values zeroed at random, while training.
namespace heed {

/// While training, each value is zeroed with probability p, independently, and the others are multiplied by
/// 1 / (1 - p), so that the expectation stays (Srivastava et al., 2014). In eval the identity.
///
///   x          [...]
///   returns    same shape
///
/// The draws are the thread's default generator's: the same seed gives the same ones on any number of
/// threads.
struct Dropout : Layer<Dropout> {
  /// An Error unless 0 <= p <= 1.
  explicit Dropout(double p = 0.5) : p(p) { F::check_dropout("Dropout", "p", p); }
  Tensor forward(const Tensor& x) const { return F::dropout(x, p, training()); }

  double p;  ///< the probability of 0
};

}  // namespace heed
