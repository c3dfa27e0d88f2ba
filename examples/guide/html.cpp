#include "examples/guide/html.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "tensor/utf8.h"

namespace program {

namespace {

// Calls f(markup, is_text) for each tag with its brackets and each text between tags, in order.
void for_each_token(std::string_view markup, const auto& f) {
  while (!markup.empty()) {
    size_t end = std::min(markup.find('<'), markup.size());
    const bool text = end > 0;
    if (!text) {
      std::string_view close = ">";
      for (const auto& [open, its_close] : {std::pair<std::string_view, std::string_view>{"<!--", "-->"},
                                            {"<style", "</style>"},
                                            {"<script", "</script>"}})
        if (markup.starts_with(open)) close = its_close;
      end = markup.find(close);
      end = end == markup.npos ? markup.size() : end + close.size();
    }
    f(markup.substr(0, end), text);
    markup.remove_prefix(end);
  }
}

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == ':';
}

}  // namespace

std::string with_parts(const std::string& text, std::string_view begin, std::string_view end,
                       const TextEdit& edit) {
  std::string edited;
  size_t done = 0;
  for (size_t at; (at = text.find(begin, done)) != text.npos;) {
    const size_t last = text.find(end, at + begin.size());
    if (last == text.npos) break;
    edited += text.substr(done, at - done) + edit(text.substr(at, last + end.size() - at));
    done = last + end.size();
  }
  return edited + text.substr(done);
}

std::string with_texts(const std::string& markup, const TextEdit& edit) {
  std::string edited;
  for_each_token(markup, [&](std::string_view token, bool is_text) {
    edited += is_text ? edit(std::string(token)) : std::string(token);
  });
  return edited;
}

std::string with_attributes(
    const std::string& markup,
    const std::function<std::string(const std::string& name, const std::string& value)>& edit) {
  std::string edited;
  for_each_token(markup, [&](std::string_view token, bool is_text) {
    size_t done = 0;  // of the token
    for (size_t equals = 0; !is_text && (equals = token.find('=', equals)) != token.npos;) {
      size_t name_end = equals, quote = equals + 1;
      while (name_end > 0 && token[name_end - 1] == ' ') --name_end;
      while (quote < token.size() && token[quote] == ' ') ++quote;
      size_t name = name_end;
      while (name > 0 && is_name(token[name - 1])) --name;
      if (quote == token.size() || (token[quote] != '"' && token[quote] != '\'')) break;
      const size_t end = token.find(token[quote], quote + 1);
      if (end == token.npos) break;
      edited += token.substr(done, quote + 1 - done);
      edited += edit(std::string(token.substr(name, name_end - name)),
                     std::string(token.substr(quote + 1, end - quote - 1)));
      equals = done = end;
    }
    edited += token.substr(done);
  });
  return edited;
}

std::string attribute_of(const std::string& markup, const std::string& name) {
  std::string found;
  bool has = false;
  with_attributes(markup, [&](const std::string& key, const std::string& value) {
    if (key == name && !std::exchange(has, true)) found = value;
    return value;
  });
  return found;
}

std::string unescaped(const std::string& text) {
  std::string plain = with_parts(text, "&#", ";", [](const std::string& reference) {
    const bool hex = reference[2] == 'x';
    const auto code = std::strtoul(reference.c_str() + (hex ? 3 : 2), nullptr, hex ? 16 : 10);
    return heed::utf8(static_cast<uint32_t>(code));
  });
  for (const auto& [name, character] : {std::pair<const char*, const char*>{"&lt;", "<"},
                                        {"&gt;", ">"},
                                        {"&quot;", "\""},
                                        {"&amp;", "&"}})  // the last: it may begin another
    plain = heed::replaced(plain, name, character);
  return plain;
}

}  // namespace program
