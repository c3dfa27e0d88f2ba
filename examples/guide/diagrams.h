#pragma once

#include <string>
#include <vector>

/// The diagrams of the guide.
namespace program {

/// The diagram of this file name in this language ("en" or "zh"): an <svg> element to be put inside a page.
/// Errors: an unknown name or language.
std::string diagram(const std::string& name, const std::string& language);

/// The file names of all diagrams, in the order of the chapters.
const std::vector<std::string>& diagrams();

}  // namespace program
