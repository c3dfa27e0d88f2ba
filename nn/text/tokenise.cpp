#include "nn/text/tokenise.h"

#include "tensor/utf8.h"

namespace heed {

// Marks without a space before them; Chinese marks are as wide as a character.
const Tokens kClosing = {".",  ",",  ";",  ":",  "?",  "!",  ")",  "]", "}",
                         "。", "，", "；", "：", "？", "！", "）", "、"};

constexpr CodeRange kSpaces[] = {{'\t', '\r'},     {' ', ' '},       {0x85, 0x85},     {0xA0, 0xA0},
                                 {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F},
                                 {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};

// Marks of ASCII and Latin-1, blocks of general and Chinese punctuation, and full-width ASCII marks.
constexpr CodeRange kMarks[] = {{'!', '/'},       {':', '@'},       {'[', '^'},       {'`', '`'},
                                {'{', '~'},       {0xA1, 0xA1},     {0xA7, 0xA7},     {0xAB, 0xAB},
                                {0xB6, 0xB7},     {0xBB, 0xBB},     {0xBF, 0xBF},     {0x2010, 0x2027},
                                {0x2030, 0x205E}, {0x3001, 0x3003}, {0x3008, 0x3011}, {0x3014, 0x301F},
                                {0xFF01, 0xFF0F}, {0xFF1A, 0xFF20}, {0xFF3B, 0xFF3E}, {0xFF40, 0xFF40},
                                {0xFF5B, 0xFF5E}};

static bool is_space(uint32_t c) { return within(kSpaces, c); }
static bool is_mark(uint32_t c) { return within(kMarks, c); }
static bool is_digit(uint32_t c) { return c >= '0' && c <= '9'; }

// Whether the mark c joins the characters before and after it.
static bool is_joint(uint32_t before, uint32_t c, uint32_t after) {
  if (c == '.' || c == ',') return is_digit(before) && is_digit(after);
  const auto is_letter = [](uint32_t x) { return x != 0 && !is_space(x) && !is_mark(x); };
  return (c == '\'' || c == 0x2019 || c == '-') && is_letter(before) && is_letter(after);
}

Tokens split_words(std::string_view text) {
  check_utf8("split_words", text);
  Tokens words;
  bool open = false;  // the last word may continue
  uint32_t before = 0;
  for_each_character(text, [&](uint32_t c, std::string_view character) {
    text.remove_prefix(character.size());
    const bool joins = open && is_joint(before, c, first_character(text).code);
    const bool in_word = joins || (!is_space(c) && !is_mark(c));
    if (in_word && open)
      words.back() += character;
    else if (!is_space(c))
      words.emplace_back(character);
    open = in_word;
    before = c;
  });
  return words;
}

std::string join_words(const Tokens& tokens) {
  std::string text;
  for (const std::string& token : tokens) {
    if (!text.empty() && std::ranges::count(kClosing, token) == 0) text += ' ';
    text += token;
  }
  return text;
}

Tokens split_characters(std::string_view text, bool keep_space) {
  check_utf8("split_characters", text);
  Tokens characters;
  for_each_character(text, [&](uint32_t c, std::string_view character) {
    if (keep_space || !is_space(c)) characters.emplace_back(character);
  });
  return characters;
}

}  // namespace heed
