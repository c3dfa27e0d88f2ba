#pragma once

#include <map>
#include <string>
#include <string_view>

#include "tensor/error.h"

/// What the pictures and pages are written with.
namespace heed::detail {

/// `text` with `by` in place of every `part`.
std::string replaced(std::string text, const std::string& part, const std::string& by);
/// A text made fit for XML and HTML, between tags and in quotes.
std::string escaped(const std::string& text);
/// A page with its {{blanks}} filled in. What is filled in is not searched again.
std::string filled(std::string_view page, const std::map<std::string_view, std::string>& blanks);
/// Texts and numbers one after the other.
std::string joined(const auto&... parts) {
  std::string text;
  (append(text, parts), ...);
  return text;
}

}  // namespace heed::detail
