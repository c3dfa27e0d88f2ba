#pragma once

#include <string>
#include <vector>

/// Gradient rules as people write them.
namespace heed {

/// An operand of an operation, as people call it.
struct RuleOperand {
  std::string name;            ///< "x"
  bool needs_gradient = true;  ///< without, nothing is said of it
};

/// How the gradient rule of an operation reads, by the name that it is recorded under, for people. g is the
/// gradient of the result, and of operands that need no gradient nothing is said:
///
///   gradient_rule("mul", {{"w"}, {"x"}}, "y")           "dw = g x, dx = g w"
///   gradient_rule("mul", {{"w"}, {"x", false}}, "y")    "dw = g x"
///
/// "" for an operation that is not heed's own.
std::string gradient_rule(const std::string& operation, const std::vector<RuleOperand>& operands,
                          const std::string& result);

namespace detail {
/// The operations that have such a text.
std::vector<std::string> operations_with_rules();
}  // namespace detail

}  // namespace heed
