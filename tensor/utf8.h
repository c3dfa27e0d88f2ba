#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// Characters in UTF-8.
namespace heed {

/// One character of a text.
struct Utf8Character {
  uint32_t code;  ///< Unicode code point
  size_t size;    ///< 1 to 4 bytes; 0 if the text is empty or does not begin with UTF-8
};
/// Decodes the first character of a text. Overlong forms, surrogates and codes above U+10FFFF are not UTF-8
/// (RFC 3629).
Utf8Character first_character(std::string_view text);
/// Encodes a code point in 1 to 4 bytes, the inverse of first_character. Throws for surrogates and codes
/// above U+10FFFF.
std::string utf8(uint32_t code);

/// The code of a byte that is not UTF-8.
constexpr uint32_t kNotUtf8 = UINT32_MAX;
/// Calls f(code, bytes) for each character of a text. A byte that is not UTF-8 counts as one character.
void for_each_character(std::string_view text, const auto& f) {
  while (!text.empty()) {
    const auto [code, size] = first_character(text);
    f(size == 0 ? kNotUtf8 : code, text.substr(0, std::max<size_t>(size, 1)));
    text.remove_prefix(std::max<size_t>(size, 1));
  }
}

/// The code points from `first` to `last`, both included.
struct CodeRange {
  uint32_t first, last;
};
/// Whether a code point is in one of the ranges, which ascend.
inline bool within(std::span<const CodeRange> ranges, uint32_t code) {
  const auto after = std::ranges::upper_bound(ranges, code, {}, &CodeRange::first);
  return after != ranges.begin() && code <= std::prev(after)->last;
}

/// The number of bytes before the first one that is not UTF-8; text.size() if there is none.
size_t valid_utf8(std::string_view text);

/// Throws unless all of `text` is UTF-8. The message begins with `what` and gives the position of the first
/// invalid byte.
void check_utf8(std::string_view what, std::string_view text);

/// How printable() shows characters that are invisible or control terminals.
enum class Hidden {
  codes,     ///< "U+200B", and "<FF>" for a byte that is not UTF-8: for messages
  pictures,  ///< "␊" for control characters, U+FFFD for what XML forbids: for pictures, pages and tables
};
/// Replaces characters that are invisible, that terminals interpret, or that are not UTF-8.
std::string printable(std::string_view text, Hidden hidden = Hidden::codes);

/// Replaces every occurrence of `part`. Error: `part` is empty.
std::string replaced(std::string text, std::string_view part, std::string_view by);

}  // namespace heed
