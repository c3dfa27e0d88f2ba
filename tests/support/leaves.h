#pragma once

#include "nn/debug/check_module.h"

namespace heed::test {

using detail::unregistered_leaves;

/// The names of parameters, buffers or modules, or the keys of a state dict, in order.
template <class List>
std::vector<std::string> names(const List& list) {
  std::vector<std::string> found;
  for (const auto& entry : list)
    if constexpr (requires { entry.name; })
      found.push_back(entry.name);
    else
      found.push_back(entry.first);
  return found;
}

}  // namespace heed::test
