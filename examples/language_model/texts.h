#pragma once

#include <string>

namespace program {

/// A text to learn from, and a text that is held out to measure the model.
struct HeldOutText {
  std::string description, learned, held_out;
};
/// Reads a file of UTF-8, whose last tenth is held out; "" stands for own_sources().
HeldOutText read_held_out_text(const std::string& file);
/// heed's own sources in the order of their names, of which every tenth file is held out.
HeldOutText own_sources();

}  // namespace program
