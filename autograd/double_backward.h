#pragma once

#include "autograd/node.h"

/// Derivatives of gradients that one joint rule computes.
namespace heed::detail {

/// Gradients of a node with a reference implementation, computed from it so that they can be differentiated
/// again: see Note [Reference implementations] in autograd/node.h.
Gradients differentiate_reference(Node& node, const Tensor& g);

}  // namespace heed::detail
