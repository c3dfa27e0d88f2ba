#pragma once

#include "nn/view/text.h"

namespace heed {

/// Heat maps as one SVG picture: a panel for each head, keys on x and queries on y, one scale of colours from
/// 0 to 1, and a title with its number on every cell, which viewers show under the mouse. Where there are
/// very many weights, several share a cell, which shows the largest of them.
std::string attention_svg(const AttentionMap& map);

}  // namespace heed
