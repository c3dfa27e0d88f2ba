#include "examples/guide/html.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
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

// Calls f(name, value) for each attribute of a tag, in order. Both are parts of the tag.
void for_each_attribute(std::string_view tag, const auto& f) {
  for (size_t equals = 0; (equals = tag.find('=', equals)) != tag.npos;) {
    size_t name_end = equals, quote = equals + 1;
    while (name_end > 0 && tag[name_end - 1] == ' ') --name_end;
    while (quote < tag.size() && tag[quote] == ' ') ++quote;
    size_t name = name_end;
    while (name > 0 && is_name(tag[name - 1])) --name;
    if (quote == tag.size() || (tag[quote] != '"' && tag[quote] != '\'')) return;
    const size_t end = tag.find(tag[quote], quote + 1);
    if (end == tag.npos) return;
    f(tag.substr(name, name_end - name), tag.substr(quote + 1, end - quote - 1));
    equals = end;
  }
}

std::optional<std::string> first_value(std::string_view tag, std::string_view name) {
  std::optional<std::string> found;
  for_each_attribute(tag, [&](std::string_view key, std::string_view value) {
    if (key == name && !found) found = value;
  });
  return found;
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
    const auto replace = [&](std::string_view name, std::string_view value) {
      const auto begin = static_cast<size_t>(value.data() - token.data());
      edited += token.substr(done, begin - done);
      edited += edit(std::string(name), std::string(value));
      done = begin + value.size();
    };
    if (!is_text) for_each_attribute(token, replace);
    edited += token.substr(done);
  });
  return edited;
}

std::string attribute_in(const std::string& tag, const std::string& name) {
  return first_value(tag, name).value_or("");
}

std::string attribute_of(const std::string& markup, const std::string& name) {
  std::optional<std::string> found;
  for_each_token(markup, [&](std::string_view token, bool is_text) {
    if (!is_text && !found) found = first_value(token, name);
  });
  return found.value_or("");
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
