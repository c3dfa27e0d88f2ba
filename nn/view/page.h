#pragma once

#include "nn/view/text.h"

/// Attention as an interactive page.
namespace heed {

/// Options of attention_page.
struct AttentionPageOptions {
  std::string title = "Attention";
  std::string language = "en";  ///< of the title (BCP 47)
};

/// An HTML page to explore attention with mouse or keyboard: the sentence with the current word in red and
/// the others shaded by weight, a heat map, lines between the tokens, and a thumbnail of every head of every
/// map to select it. The page is one file and makes no network requests.
std::string attention_page(const std::vector<AttentionMap>& maps, const AttentionPageOptions& options = {});

}  // namespace heed
