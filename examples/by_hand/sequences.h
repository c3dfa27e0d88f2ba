#pragma once

#include "examples/shared/program.h"

/// The examples of attention_by_hand in which the order of the words matters.
namespace program {

/// Which queries may attend to which keys, and what becomes of a query that may attend to nothing.
void masks(Program& self);
/// Sinusoidal, learned and rotary positions.
void positions(Program& self);
/// One word in two sentences.
void context(Program& self);

}  // namespace program
