#pragma once

#include "examples/guide/diagrams_hand.h"

/// Diagrams of chapter 9: forms of attention that differ in their scores and weights.
namespace program::drawing {

/// A soft cap, and sigmoids beside softmax.
void bounded_scores(Picture& draw);
/// The weights of the same scores by softmax, with a sink, by entmax and sparsemax.
void sparse_weights(Picture& draw);
/// A word that is generated or copied.
void copy_mixture(Picture& draw);
/// The difference of two softmaxes, and mixtures of three heads.
void differences(Picture& draw);

}  // namespace program::drawing
