#include "tensor/reference.h"

#include <cstdlib>
#include <cstring>

namespace heed {

std::atomic<bool> detail::reference = [] {
  const char* value = std::getenv("HEED_REFERENCE");
  return value && *value && std::strcmp(value, "0") != 0;
}();

}  // namespace heed
