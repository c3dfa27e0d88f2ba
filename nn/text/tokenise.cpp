#include "nn/text/tokenise.h"

#include <algorithm>

#include "nn/text/utf8.h"

namespace heed {
namespace {

// Marks written right behind a word, and those of Chinese, which are as wide as a character.
const Tokens kClosing = {".",  ",",  ";",  ":",  "?",  "!",  ")",  "]", "}",
                         "。", "，", "；", "：", "？", "！", "）", "、"};

bool is_space(uint32_t c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000 || c == 0xFEFF;
}

bool is_digit(uint32_t c) { return c >= '0' && c <= '9'; }

// Marks of ASCII and Latin-1, the blocks of general and of Chinese punctuation, and full-width ASCII marks.
bool is_mark(uint32_t c) {
  const uint32_t ascii = c >= 0xFF01 && c <= 0xFF5E ? c - 0xFEE0 : c;
  if (ascii < 0x7F) {
    const bool letter = (ascii | 0x20) >= 'a' && (ascii | 0x20) <= 'z';
    return ascii > ' ' && !letter && !is_digit(ascii) && ascii != '_';
  }
  return c == 0xA1 || c == 0xA7 || c == 0xAB || c == 0xB6 || c == 0xB7 || c == 0xBB || c == 0xBF ||
         (c >= 0x2010 && c <= 0x2027) || (c >= 0x2030 && c <= 0x205E) || (c >= 0x3001 && c <= 0x3003) ||
         (c >= 0x3008 && c <= 0x3011) || (c >= 0x3014 && c <= 0x301F);
}

// Whether the mark c ties the character before it to the next.
bool joins(uint32_t before, uint32_t c, uint32_t after) {
  if (c == '.' || c == ',') return is_digit(before) && is_digit(after);
  const auto is_letter = [](uint32_t x) { return x != 0 && !is_space(x) && !is_mark(x); };
  return (c == '\'' || c == 0x2019 || c == '-') && is_letter(before) && is_letter(after);
}

}  // namespace

Tokens split_words(std::string_view text) {
  check_utf8("split_words", text);
  Tokens words;
  bool open = false;  // the last word may go on
  uint32_t before = 0;
  while (!text.empty()) {
    const auto [c, size] = first_character(text);
    const std::string_view character = text.substr(0, size);
    text.remove_prefix(size);
    const bool within = open && joins(before, c, first_character(text).code);
    const bool in_word = within || (!is_space(c) && !is_mark(c));
    if (in_word && open)
      words.back() += character;
    else if (!is_space(c))
      words.emplace_back(character);
    open = in_word;
    before = c;
  }
  return words;
}

std::string join_words(const Tokens& tokens) {
  std::string text;
  for (const std::string& token : tokens) {
    const bool closes = std::find(kClosing.begin(), kClosing.end(), token) != kClosing.end();
    if (!text.empty() && !closes) text += ' ';
    text += token;
  }
  return text;
}

Tokens split_characters(std::string_view text, bool keep_space) {
  check_utf8("split_characters", text);
  Tokens characters;
  while (!text.empty()) {
    const auto [c, size] = first_character(text);
    if (keep_space || !is_space(c)) characters.emplace_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return characters;
}

}  // namespace heed
