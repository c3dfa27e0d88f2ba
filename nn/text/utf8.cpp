#include "nn/text/utf8.h"

#include "tensor/error.h"

namespace heed {

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
  if (overlong || surrogate || code > 0x10FFFF) return {0, 0};
  return {code, size};
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

}  // namespace heed
