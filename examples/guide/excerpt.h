#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Parts of source files, as the guide quotes them.
namespace program {

std::vector<std::string> split_lines(const std::string& text);

/// Lines of a source file.
struct Excerpt {
  int64_t first;  ///< number of the first line, from 1
  std::vector<std::string> lines;
};
/// The declaration, function or statement that begins in the only line which contains `from`, with the
/// comment above it. Throws if no line or more than one contains it.
Excerpt excerpt(const std::string& source, const std::string& from);

}  // namespace program
