#pragma once

#include "nn/view/text.h"

namespace heed {

/// Heat maps as one SVG picture: a panel for each head, keys on x and queries on y, one scale of colours from
/// 0 to 1, and a title with its number on every cell, which viewers show under the mouse. Where there are
/// very many weights, several share a cell, which shows the largest of them.
std::string attention_svg(const AttentionMap& map);

namespace detail {

/// `text` with `by` in place of every `part`.
std::string replaced(std::string text, const std::string& part, const std::string& by);
/// A text made fit for XML and HTML, between tags and in quotes.
std::string escaped(const std::string& text);

}  // namespace detail

}  // namespace heed
