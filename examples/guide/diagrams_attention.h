#pragma once

#include "examples/guide/diagrams_hand.h"

/// Diagrams of chapters 2 and 3: self-attention, its weights, and scores.
namespace program::drawing {

/// From X to Q, K and V, to scores S, weights A and the output Z.
void self_attention(Picture& draw);
/// The softmax of the same scores, times 1 and times 8.
void softmax_saturation(Picture& draw);
/// Four inputs and four outputs, each line a weight; the same with a causal mask.
void four_to_four(Picture& draw);
/// The task of the program `scores` in two dimensions.
void planted_relation(Picture& draw);
/// Softmax over blocks of keys, with a running maximum, sum and output.
void online_softmax(Picture& draw);

}  // namespace program::drawing
