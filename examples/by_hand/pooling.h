#pragma once

#include "examples/shared/program.h"

/// The examples of attention_by_hand that are about the weighted mean itself.
namespace program {

/// The Gaussian kernel is a softmax, and kernel regression the same pooling as multi-head attention.
void gaussian(Program& self);
/// Soft attention is the mean of hard choices, and with keys that are values it stays among the keys.
void hard(Program& self);

}  // namespace program
