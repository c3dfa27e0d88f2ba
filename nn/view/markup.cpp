#include "nn/view/markup.h"

#include "nn/text/tokenise.h"
#include "tensor/table.h"
#include "tensor/utf8.h"

namespace heed::detail {

std::string replaced(std::string text, const std::string& part, const std::string& by) {
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += by.size())
    text.replace(at, part.size(), by);
  return text;
}

std::string escaped(const std::string& text) {
  const std::string safe = replaced(replaced(text, "&", "&amp;"), "<", "&lt;");
  return replaced(replaced(safe, ">", "&gt;"), "\"", "&quot;");
}

std::string filled(std::string_view page, const std::map<std::string_view, std::string>& blanks) {
  std::string text;
  while (true) {
    const size_t at = page.find("{{");
    text += page.substr(0, at);
    if (at == page.npos) return text;
    const size_t end = page.find("}}", at);
    text += blanks.at(page.substr(at + 2, end - at - 2));
    page.remove_prefix(end + 2);
  }
}

std::string visible(const std::string& what, const std::string& text) {
  check_utf8(what, text);
  std::string shown;
  for (size_t i = 0; i < text.size();) {
    const auto [code, size] = first_character(std::string_view(text).substr(i));
    if (code < 0x20)
      shown += {'\xE2', '\x90', static_cast<char>(0x80 + code)};  // U+2400 and on
    else if ((code >= 0x7F && code < 0xA0) || code == 0xFFFE || code == 0xFFFF)
      shown += "\uFFFD";
    else
      shown += text.substr(i, size);
    i += size;
  }
  return shown;
}

std::vector<std::string> wrapped(const std::string& text, int64_t columns) {
  if (text.empty()) return {};
  std::vector<std::string> lines(1);
  for (const std::string& character : split_characters(text, true)) {
    std::string& line = lines.back();
    if (display_width(line + character) <= columns) {
      line += character;
      continue;
    }
    const size_t space = character == " " ? line.size() : line.rfind(' ');
    const std::string rest = space < line.size() ? line.substr(space + 1) : "";
    line.resize(std::min(space, line.size()));
    lines.push_back(character == " " ? "" : rest + character);
  }
  return lines;
}

}  // namespace heed::detail
