#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// Characters in UTF-8.
namespace heed {

/// The character that a text begins with.
struct Utf8Character {
  uint32_t code;  ///< of Unicode
  size_t size;    ///< in bytes: 1 to 4; 0 where the text is empty or does not begin with UTF-8
};
/// The first character of a text. Overlong forms, surrogates and codes above U+10FFFF are not UTF-8 (RFC
/// 3629).
Utf8Character first_character(std::string_view text);
/// A character as 1 to 4 bytes: the inverse of first_character. Errors: a surrogate, a code above U+10FFFF.
std::string utf8(uint32_t code);

/// The characters first to last.
struct CodeRange {
  uint32_t first, last;  ///< code of Unicode
};
/// Whether a character is in one of the ranges.
inline bool within(std::span<const CodeRange> ranges, uint32_t code) {
  for (const CodeRange& range : ranges)
    if (range.first <= code && code <= range.last) return true;
  return false;
}

/// The number of bytes before the first that is not UTF-8: text.size() if all of it is.
size_t valid_utf8(std::string_view text);

/// Throws unless all of `text` is UTF-8, with `what` it is and the position of the first byte that is wrong.
void check_utf8(std::string_view what, std::string_view text);

/// The text as messages show it: characters that no reader sees, and terminals may obey, as U+200B; bytes
/// that are not UTF-8 as `<FF>`.
std::string printable(std::string_view text);

}  // namespace heed
