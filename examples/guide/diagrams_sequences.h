#pragma once

#include "examples/guide/diagrams_hand.h"

/// Diagrams of chapter 4: recurrent networks, encoder and decoder.
namespace program::drawing {

/// A recurrent network, folded and unrolled in time.
void unrolled_recurrence(Picture& draw);
/// Encoder, one context vector, decoder.
void one_context(Picture& draw);
/// A context vector for each output word, through weights on the encoder's states.
void context_for_each_word(Picture& draw);

}  // namespace program::drawing
