#pragma once

#include <concepts>
#include <new>

#include "tensor/tensor.h"

/// Gradient rules of any closure type behind one interface, without std::function.
namespace heed::detail {

/// How to handle a gradient rule inside a node, whose closure type is erased.
struct RuleTable {
  size_t size;
  bool reads_result;
  void (*move)(void* to, void* from);
  Tensor (*call)(void* rule, const Tensor& g, const Tensor& y);
  void (*destroy)(void* rule);
};

template <class Rule>
inline constexpr RuleTable rule_table = {
    sizeof(Rule),
    !std::invocable<Rule&, const Tensor&>,
    [](void* to, void* from) { new (to) Rule(std::move(*static_cast<Rule*>(from))); },
    [](void* rule, const Tensor& g, const Tensor& y) -> Tensor {
      if constexpr (std::invocable<Rule&, const Tensor&>)
        return (*static_cast<Rule*>(rule))(g);
      else if constexpr (std::invocable<Rule&, const Tensor&, const Tensor&>)
        return (*static_cast<Rule*>(rule))(g, y);
    },
    [](void* rule) { static_cast<Rule*>(rule)->~Rule(); },
};

}  // namespace heed::detail
