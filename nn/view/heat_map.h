#pragma once

#include "nn/view/text.h"

/// Attention as a heat map.
namespace heed {

/// Options of attention_svg.
struct HeatMapOptions {
  std::string language = "en";  ///< of the picture's words (BCP 47): Chinese for "zh", otherwise English
};

/// Draws attention weights as an SVG picture, with a panel for each head. The first query is at the top and
/// the first key at the left. All panels share one color scale from 0 to 1. The title is the sentence of the
/// map, and below it the layer in words. Weights are printed in cells that have space, and each cell has a
/// title with its weight, which viewers show as a tooltip. Masked keys are hatched. If there are very many
/// weights, several share a cell, which shows the largest. Pictures of short sentences have letters of 10
/// pixels or more on a screen of 360. For the colors see detail::svg_begin.
std::string attention_svg(const AttentionMap& map, const HeatMapOptions& options = {});

}  // namespace heed
