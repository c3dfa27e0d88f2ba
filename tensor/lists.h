#pragma once

#include <functional>
#include <vector>

#include "tensor/error.h"

/// Lists from lists.
namespace heed::detail {

/// f of each element, in their order.
auto mapped(const auto& list, const auto& f) {
  std::vector<std::remove_cvref_t<decltype(std::invoke(f, *list.begin()))>> results;
  for (const auto& one : list) results.push_back(std::invoke(f, one));
  return results;
}

/// The elements as text: "a, b".
std::string listed(const auto& list, std::string_view separator = ", ") {
  std::string text;
  for (const auto& one : list) append(text += text.empty() ? "" : separator, one);
  return text;
}

}  // namespace heed::detail
