#include "nn/view/markup.h"

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

}  // namespace heed::detail
