#pragma once

#include "nn/view/text.h"

/// Attention as a page to explore.
namespace heed {

/// Choices of attention_page.
struct AttentionPageOptions {
  std::string title = "Attention";  ///< of the page
  std::string language = "en";      ///< of the title (BCP 47)
};

/// An HTML page to explore attention with mouse or keyboard: the sentence with the current word red and the
/// others shaded by weight, a heat map, lines between the tokens, and a small picture of every head of
/// every map to choose from. Everything is in the page: it asks for nothing, over no network.
std::string attention_page(const std::vector<AttentionMap>& maps, const AttentionPageOptions& options = {});

}  // namespace heed
