#pragma once

#include "autograd/node.h"

/// Values that are recomputed for the gradient instead of kept, and derivatives of joint rules.
namespace heed {

/// How a result is computed again from the inputs of its operation.
///
/// Note [Recomputed values]: a result that is cheap compared with a product, such as an activation or a norm,
/// is not kept by the rules that save it. They keep a tensor without storage, and compute its values from the
/// inputs of the operation, which that operation saves anyway: gpt_step needs a third less memory. Reading a
/// Saved hides the difference. `depth` counts operations that are recomputed in sequence; results deeper than
/// kMaxRecomputeDepth keep their values, so that a long chain cannot overflow the stack.
struct Recomputation {
  std::vector<Saved> inputs;
  ReferenceFunction compute;  ///< inputs -> result, the same bits; null if the result is kept.
  int64_t depth = 0;
  static constexpr int64_t kMaxRecomputeDepth = 16;
};

}  // namespace heed
