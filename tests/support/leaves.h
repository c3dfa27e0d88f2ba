#pragma once

#include "nn/module.h"

namespace heed::test {

/// The leaves that gradients of `output` reach and that are neither parameters of the module nor inputs: one
/// line for each, "" if there are none. Catches the line that was forgotten in `visit`.
std::string forgotten_leaves(const Tensor& output, const Module& module,
                             const std::vector<Tensor>& inputs = {});

/// The names of parameters, buffers or modules, or of a state dict, in their order.
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
