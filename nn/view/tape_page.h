#pragma once

#include "nn/view/tape.h"

/// The same as a picture, and as a page with a slider.
namespace heed {

/// The graph that a Tape saw, as one SVG picture: a box for each tensor with its operation, its numbers, its
/// gradient in red, the rule and the line of the program; inputs above what is computed from them.
std::string tape_svg(const Tape& tape);

/// Choices of tape_page.
struct TapePageOptions {
  std::string title = "Step by step";  ///< of the page
  std::string language = "en";         ///< of the title (BCP 47)
};

/// An HTML page with that picture and a slider: values appear one after the other, then the gradients in the
/// order of the engine, with what each rule gives to each input. The arrow keys move the slider. Everything
/// is in the page: it asks for nothing, over no network.
std::string tape_page(const Tape& tape, const TapePageOptions& options = {});

}  // namespace heed
