#pragma once

#include "tensor/random.h"
#include "tensor/tensor.h"

/// Tokens by chance.
namespace heed {

/// Choices of sample.
struct SampleOptions {
  double temperature =
      1;              ///< below 1 the probable becomes more so; 0 takes the most probable, without chance
  int64_t top_k = 0;  ///< only so many of the most probable; 0: all
  double top_p = 1;   ///< of these only the most probable that together have this probability
};

/// One of the indices of `logits`, drawn with the probabilities
///
///   p = softmax(logits / temperature)
///
/// of which only the top_k largest count, and of those, scaled to sum to 1, only the fewest whose sum reaches
/// top_p (nucleus sampling; Holtzman et al., 2020). Among equals the lower index counts first.
///
///   logits     [V]      floating; -inf for what may not come
///   returns    in [0, V)
///
/// One number of the generator is used, none at temperature 0. Errors: another shape; a logit that is NaN or
/// inf; nothing but -inf; a temperature or top_k below 0, a top_p that is not in (0, 1].
int64_t sample(const Tensor& logits, Generator& generator, const SampleOptions& options = {});

}  // namespace heed
