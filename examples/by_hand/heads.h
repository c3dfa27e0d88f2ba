#pragma once

#include "examples/shared/program.h"

/// The examples of attention_by_hand that have several heads.
namespace program {

/// Heads with maps of their own, joined, times W_O; and queries, keys and values of three widths.
void multi_head(Program& self);
/// Decoding step by step, compared with attention over all words at once.
void cache(Program& self);

}  // namespace program
