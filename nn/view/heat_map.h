#pragma once

#include "nn/view/text.h"

/// Attention as a heat map.
namespace heed {

/// Heat maps as one SVG picture: a panel for each head, the first query on top, the first key at the left,
/// one scale of colours from 0 to 1, the weights in the cells where they fit, and a title with its number on
/// every cell, which viewers show under the mouse. Where there are very many weights, several share a cell,
/// which shows the largest.
std::string attention_svg(const AttentionMap& map);

}  // namespace heed
