#pragma once

#include "examples/guide/diagrams_hand.h"

/// The diagram of chapter 8.
namespace program::drawing {

/// Values forward, gradients back.
void computation_graph(Picture& draw);

}  // namespace program::drawing
