#include "tensor/error.h"

namespace heed {

std::string to_string(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return std::string(text, end);
}

}  // namespace heed
