#pragma once

#include "nn/view/text.h"

/// Attention as an interactive page.
namespace heed {

/// Options of attention_page.
struct AttentionPageOptions {
  std::string title = {};       ///< by default the sentence, layer and head that are shown
  std::string language = "en";  ///< of the title and the page (BCP 47): Chinese for "zh", otherwise English
};

/// An HTML page to explore attention with mouse, finger or keyboard: the sentence with the current word in
/// red and the others shaded by weight, a heat map, lines between the tokens, and a thumbnail of every head
/// of every map to select it. Masked keys are hatched. Lines of special tokens, which are in angle or square
/// brackets, are thin. The page is one file and makes no network requests.
std::string attention_page(const std::vector<AttentionMap>& maps, const AttentionPageOptions& options = {});

}  // namespace heed
