#include "tensor/utf8.h"

#include "tensor/error.h"
#include "tensor/table.h"

namespace heed {

// Control characters, joiners, direction marks, private-use characters and the like.
constexpr CodeRange kInvisible[] = {{0, 0x1F},        {0x7F, 0x9F},     {0xAD, 0xAD},       {0x200B, 0x200F},
                                    {0x2028, 0x202E}, {0x2060, 0x206F}, {0xE000, 0xF8FF},   {0xFE00, 0xFE0F},
                                    {0xFEFF, 0xFEFF}, {0xFFF0, 0xFFFB}, {0xE0000, 0x10FFFF}};
// Not allowed in XML, or control characters without a picture.
constexpr CodeRange kForbidden[] = {{0x7F, 0x9F}, {0xFFFE, 0xFFFF}, {kNotUtf8, kNotUtf8}};

Utf8Character first_character(std::string_view text) {
  if (text.empty()) return {0, 0};
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t size = lead < 0xC2 || lead > 0xF4 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (size == 0 || text.size() < size) return {0, 0};
  uint32_t code = lead & (0x7Fu >> size);
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {0, 0};
    code = code << 6 | (byte(i) & 0x3F);
  }
  const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return overlong || surrogate || code > 0x10FFFF ? Utf8Character{0, 0} : Utf8Character{code, size};
}

std::string utf8(uint32_t code) {
  const auto continuation = [code](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3F)); };
  const auto lead = [code](uint32_t mark, int shift) { return static_cast<char>(mark | code >> shift); };
  check(code <= 0x10FFFF && (code < 0xD800 || code >= 0xE000), "utf8: ", code,
        " is not a character; codes are 0 to 1114111 without the surrogates, 55296 to 57343");
  if (code < 0x80) return {lead(0, 0)};
  if (code < 0x800) return {lead(0xC0, 6), continuation(0)};
  if (code < 0x10000) return {lead(0xE0, 12), continuation(6), continuation(0)};
  return {lead(0xF0, 18), continuation(12), continuation(6), continuation(0)};
}

size_t valid_utf8(std::string_view text) {
  size_t valid = 0;
  while (const size_t size = first_character(text.substr(valid)).size) valid += size;
  return valid;
}

void check_utf8(std::string_view what, std::string_view text) {
  const size_t valid = valid_utf8(text);
  check(valid == text.size(), what, ": byte ", valid, " of the text is not UTF-8; save the text in UTF-8");
}

std::string printable(std::string_view text, Hidden hidden) {
  std::string shown;
  for_each_character(text, [&](uint32_t code, std::string_view bytes) {
    if (hidden == Hidden::pictures)
      shown += code < 0x20 ? utf8(0x2400 + code) : within(kForbidden, code) ? "\uFFFD" : std::string(bytes);
    else if (code == kNotUtf8)
      shown += detail::formatted("<%02X>", static_cast<unsigned char>(bytes[0]));
    else
      shown += within(kInvisible, code) ? detail::formatted("U+%04X", code) : std::string(bytes);
  });
  return shown;
}

std::string replaced(std::string text, std::string_view part, std::string_view by) {
  check(!part.empty(), "the part to replace is empty; it must have a character");
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += by.size())
    text.replace(at, part.size(), by);
  return text;
}

}  // namespace heed
