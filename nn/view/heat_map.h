#pragma once

#include "nn/view/text.h"

/// Attention as a heat map.
namespace heed {

/// Draws attention weights as an SVG picture, with a panel for each head. The first query is at the top and
/// the first key at the left. All panels share one color scale from 0 to 1. Weights are printed in cells that
/// have space, and each cell has a title with its weight, which viewers show as a tooltip. If there are very
/// many weights, several share a cell, which shows the largest.
std::string attention_svg(const AttentionMap& map);

}  // namespace heed
