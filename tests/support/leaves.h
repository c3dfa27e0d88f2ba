#pragma once

#include <string>
#include <vector>

#include "nn/module.h"

namespace heed::test {

/// The leaves that gradients of `output` reach and that are neither parameters of the module nor inputs: one
/// line for each, "" if there are none. Catches the line that was forgotten in `visit`.
std::string forgotten_leaves(const Tensor& output, const Module& module,
                             const std::vector<Tensor>& inputs = {});

}  // namespace heed::test
