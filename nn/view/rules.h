#pragma once

#include "autograd/node.h"

/// Gradient rules as text.
namespace heed {

/// The gradient rule of an operation, in the given names of its inputs and result; "" as the name of an input
/// that was not given. g is the gradient of the result. Inputs that need no gradient have no formula:
///
///   gradient_rule(*Node::of(w * x), {"w", "x"}, "y")    "dw = g x, dx = g w", or "dw = g x" for a constant x
///
/// "" for an operation whose edges have no texts; see Edge in autograd/node.h.
std::string gradient_rule(const Node& node, const std::vector<std::string>& names, const std::string& result);

namespace detail {
/// A rule with $1, $2, ... replaced by `names` and $y by `result`.
std::string with_names(const std::string& rule, const std::vector<std::string>& names,
                       const std::string& result);
}  // namespace detail

}  // namespace heed
