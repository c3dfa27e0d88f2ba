#pragma once

#include "nn/functional.h"
#include "nn/module.h"

/// Dropout: zeroes random values in training.
namespace heed {

/// In training, zeroes each value independently with probability p and multiplies the others by 1 / (1 - p),
/// which keeps the expectation (Srivastava et al., 2014). In evaluation y = x.
///
///   x          [...]
///   returns    same shape
///
/// Draws from the thread's default generator. The same seed drops the same values on any number of threads.
/// Errors: p outside of [0, 1].
struct Dropout : Layer<Dropout> {
  explicit Dropout(double probability = 0.5) : p(probability) { F::check_dropout("Dropout", "p", p); }
  Tensor forward(const Tensor& x) const { return F::dropout(x, p, training()); }

  double p;  ///< Probability that a value is zeroed.
};

}  // namespace heed
