#pragma once

#include "examples/guide/diagrams_hand.h"

/// Diagrams of chapter 5: heads, masks, the cache.
namespace program::drawing {

/// Heads: split, attended, joined, multiplied by W_O.
void multi_head(Picture& draw);
/// Padding, causal and window masks; forbidden cells are hatched.
void masks(Picture& draw);
/// What a step of decoding computes without a cache and with one.
void key_value_cache(Picture& draw);

}  // namespace program::drawing
