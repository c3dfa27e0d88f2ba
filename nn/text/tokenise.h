#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Splitting texts into words or characters.
namespace heed {

/// The pieces of a text: words, punctuation marks, characters.
using Tokens = std::vector<std::string>;

/// Splits a text into words and punctuation marks: "Don't go, Ann!" -> Don't go , Ann ! An apostrophe or
/// hyphen between letters is part of the word, a point or comma between digits part of the number. Throws,
/// with the position of the first invalid byte, if the text is not UTF-8.
Tokens split_words(std::string_view text);
/// Joins words with spaces, but without a space before closing marks: the inverse of split_words for plain
/// sentences.
std::string join_words(const Tokens& tokens);

/// Splits a text into characters, for languages without spaces: 我爱中国 -> 我 爱 中 国. White space is
/// dropped unless `keep_space` is true.
Tokens split_characters(std::string_view text, bool keep_space = false);

}  // namespace heed
