#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/error.h"

/// What the pictures and pages are written with.
namespace heed::detail {

/// `text` with `by` in place of every `part`.
std::string replaced(std::string text, const std::string& part, const std::string& by);
/// A text made fit for XML and HTML, between tags and in quotes.
std::string escaped(const std::string& text);
/// A page with its {{blanks}} filled in. What is filled in is not searched again.
std::string filled(std::string_view page, const std::map<std::string_view, std::string>& blanks);
/// UTF-8 with pictures in place of control characters, which would break lines, steer terminals, and which
/// XML forbids. Error, which says `what` it is, for other bytes.
std::string visible(const std::string& what, const std::string& text);
/// A text in lines of at most `columns` columns of a terminal, broken at spaces where there are some.
std::vector<std::string> wrapped(const std::string& text, int64_t columns);
/// Texts and numbers one after the other.
std::string joined(const auto&... parts) {
  std::string text;
  (append(text, parts), ...);
  return text;
}

}  // namespace heed::detail
