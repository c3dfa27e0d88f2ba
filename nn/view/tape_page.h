#pragma once

#include "nn/view/tape.h"

/// A Tape as a picture, and as a page that plays it.
namespace heed {

/// Draws the graph of a tape as an SVG picture, from the inputs at the top down to the results. Each tensor
/// has a box with its operation, values, gradient (in red), gradient rule and line of the program. Colors are
/// those of the page that contains the picture; alone, it follows the color scheme of the system.
std::string tape_svg(const Tape& tape);

/// Options of tape_page.
struct TapePageOptions {
  std::string title = {};       ///< by default "Step by step", or the same in Chinese
  std::string language = "en";  ///< of the title and the page (BCP 47): Chinese for "zh", otherwise English
};

/// An HTML page with that picture, which it plays or shows step by step: the values one after the other, then
/// the gradients in the order of the engine, with the contributions of each rule and arrows that point back.
/// In its guessing mode, the page asks for the gradient that a rule sends to an input before it shows it; a
/// number within 1 % is right. There are buttons, a slider, and the arrow keys. The page fits a frame of
/// another page, is one file and makes no network requests.
std::string tape_page(const Tape& tape, const TapePageOptions& options = {});

}  // namespace heed
