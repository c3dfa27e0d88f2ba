#pragma once

#include "tensor/random.h"
#include "tensor/tensor.h"

/// Random choice of the next token.
namespace heed {

/// Options of sample.
struct SampleOptions {
  double temperature = 1;  ///< below 1 favors probable tokens; 0 always takes the most probable one
  int64_t top_k = 0;       ///< samples from the top_k most probable tokens only; 0: from all
  double top_p = 1;  ///< of these, only from the most probable ones that together reach this probability
};

/// Draws an index of `logits` with the probabilities
///
///   p = softmax(logits / temperature)
///
/// restricted to the top_k largest and then, renormalized, to the fewest whose sum reaches top_p (nucleus
/// sampling; Holtzman et al., 2020). Of equal logits the lower index comes first.
///
///   logits     [V]      floating; -inf for tokens that must not be drawn
///   returns    in [0, V)
///
/// Uses one number of the generator, or none at temperature 0. Throws for another shape, a logit that is NaN
/// or inf, logits that are all -inf, a negative temperature or top_k, and a top_p outside (0, 1].
int64_t sample(const Tensor& logits, Generator& generator, const SampleOptions& options = {});

}  // namespace heed
