#include "nn/view/markup.h"

#include "nn/text/tokenise.h"
#include "tensor/table.h"
#include "tensor/utf8.h"

namespace heed::detail {

std::string escaped(const std::string& text) {
  const std::string safe = replaced(replaced(text, "&", "&amp;"), "<", "&lt;");
  return replaced(replaced(safe, ">", "&gt;"), "\"", "&quot;");
}

std::string svg_begin(double width, double height, std::string_view attributes) {
  return line(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="{}" viewBox="0 0 {} {}" {}>)",
              width, height, width, height, attributes);
}

std::string filled(std::string_view page, const std::map<std::string_view, std::string>& texts) {
  std::string text;
  while (true) {
    const size_t at = page.find("{{");
    text += page.substr(0, at);
    if (at == page.npos) return text;
    const size_t end = page.find("}}", at);
    text += texts.at(page.substr(at + 2, end - at - 2));
    page.remove_prefix(end + 2);
  }
}

std::string script_json(const std::string& json) { return replaced(json, "<", "\\u003c"); }

Lines wrapped(const std::string& text, int64_t columns) {
  if (text.empty()) return {};
  Lines lines(1);
  for (const std::string& character : split_characters(text, true)) {
    std::string& line = lines.back();
    line += character;
    if (display_width(line) <= columns) continue;
    const size_t space = line.rfind(' ');
    const size_t end = space == line.npos ? line.size() - character.size() : space;
    std::string rest = line.substr(space == line.npos ? end : space + 1);
    line.resize(end);
    lines.push_back(std::move(rest));
  }
  return lines;
}

}  // namespace heed::detail
