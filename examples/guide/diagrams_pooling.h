#pragma once

#include "examples/guide/diagrams_hand.h"

/// Diagrams of chapters 0 and 1: what attention pooling is.
namespace program::drawing {

/// Cues that choose among sensory inputs, and the same as query, keys and values.
void cues(Picture& draw);
/// A query against keys: scores, softmax, weights, and the weighted sum of the values, with numbers.
void query_key_value(Picture& draw);
/// A Gaussian kernel around a query, and points as thick as their weights.
void kernel_weights(Picture& draw);

}  // namespace program::drawing
