#pragma once

#include <map>
#include <vector>

#include "tensor/error.h"

/// Text for XML and HTML.
namespace heed::detail {

/// Escapes a text for use between tags and in quoted attributes.
std::string escaped(const std::string& text);
/// A pattern with each {} replaced by the next part, a text or number.
std::string with_parts(std::string_view pattern, const auto&... parts) {
  std::string text;
  const auto add = [&](const auto& part) {
    const size_t at = pattern.find("{}");
    append(text += pattern.substr(0, at), part);
    pattern.remove_prefix(at + 2);
  };
  (add(parts), ...);
  return text.append(pattern);
}
/// A line of markup: a pattern with its parts.
std::string line(std::string_view pattern, const auto&... parts) {
  return with_parts(pattern, parts...) += '\n';
}
/// Whether a page or picture in this language (BCP 47) has Chinese words; in all others they are English.
inline bool is_chinese(std::string_view language) { return language.starts_with("zh"); }
/// The beginning of an SVG picture and its background; the size is in pixels. The classes paper, box, soft,
/// accent, mark, outline, frame, wire, heat-0, heat-50 and heat-100 have the colors --paper and so on of the
/// page that contains the picture. A picture that is opened alone follows the color scheme of the system. For
/// viewers without CSS variables, elements need the attributes fill and stroke as well.
std::string svg_begin(double width, double height, std::string_view attributes);
/// Replaces each {{name}} of a page by the text of that name. The texts are not searched for names.
std::string filled(std::string_view page, const std::map<std::string_view, std::string>& texts);
/// Makes JSON safe inside a <script> element, where "</script>" would end the script.
std::string script_json(const std::string& json);
using Lines = std::vector<std::string>;
/// Breaks a text into lines of at most `columns` terminal columns, at spaces where possible.
Lines wrapped(const std::string& text, int64_t columns);

}  // namespace heed::detail
