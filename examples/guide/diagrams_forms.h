#pragma once

#include "examples/guide/diagrams_hand.h"

/// Diagrams of chapter 9: forms of attention that differ in heads, positions, masks, or by a state.
namespace program::drawing {

/// Heads of keys and values: one for each head of queries, shared, and made of latents.
void shared_heads(Picture& draw);
/// ALiBi's lines and T5's buckets over the distance.
void position_bias(Picture& draw);
/// The fastest and the slowest pair of rotary positions, unchanged and in two ways of scaling.
void longer_rotary(Picture& draw);
/// A window with a sink, blocks, a dilated mask, and a local bias.
void sparse_masks(Picture& draw);
/// Expected monotonic alignment, and one alignment that never goes back.
void monotonic(Picture& draw);
/// Three writes to a state under four rules.
void state_rules(Picture& draw);
/// States that settle among three patterns, for a small and a large beta.
void hopfield(Picture& draw);

}  // namespace program::drawing
