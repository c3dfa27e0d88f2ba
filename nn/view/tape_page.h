#pragma once

#include "nn/view/tape.h"

/// A Tape as a picture, and as a page with a slider.
namespace heed {

/// Draws the graph of a tape as an SVG picture, from the inputs at the top down to the results. Each tensor
/// has a box with its operation, values, gradient (in red), gradient rule and line of the program.
std::string tape_svg(const Tape& tape);

/// Options of tape_page.
struct TapePageOptions {
  std::string title = "Step by step";
  std::string language = "en";  ///< of the title (BCP 47)
};

/// An HTML page with that picture and a slider. It shows the values one after the other, then the gradients
/// in the order of the engine, with the contributions of each rule. The arrow keys move the slider. The page
/// is one file and makes no network requests.
std::string tape_page(const Tape& tape, const TapePageOptions& options = {});

}  // namespace heed
