#include "tensor/source_line.h"

#include <string_view>

namespace heed {

std::string at(SourceLocation line) {
  if (line.line() == 0) return "at an unknown line";
  return std::string("at ") + line.file_name() + ":" + std::to_string(line.line());
}

bool is_user_code(SourceLocation line) {
  const std::string_view file = line.file_name();
  for (std::string_view root : {__FILE__, detail::header_path}) {
    root = root.substr(0, root.rfind("tensor/source_line."));
    for (const std::string_view folder : {"tensor/", "autograd/", "nn/"})
      if (file.starts_with(root) && file.substr(root.size()).starts_with(folder)) return false;
  }
  return line.line() != 0;
}

}  // namespace heed
