#pragma once

#include "examples/guide/diagrams_hand.h"

/// Diagrams of chapters 6 and 7: positions and the transformer.
namespace program::drawing {

/// Word vectors plus position vectors; without them, order is lost.
void position_added(Picture& draw);
/// Pairs of coordinates turned by the position; products depend on the distance.
void rotary(Picture& draw);
/// The numbers that a layer norm standardizes, and those of a batch norm.
void layer_norm(Picture& draw);
/// A block with its norms after the sums, and one with its norms before the sublayers.
void transformer_block(Picture& draw);
/// Encoder stack, decoder stack, cross-attention, output.
void transformer_stack(Picture& draw);

}  // namespace program::drawing
