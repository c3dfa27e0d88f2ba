#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Texts in words or characters.
namespace heed {

/// A text cut in pieces: words, punctuation marks, characters.
using Tokens = std::vector<std::string>;

/// The words of a text, punctuation marks as tokens of their own: "Don't go, Ann!" -> Don't go , Ann !
/// An apostrophe or hyphen between letters belongs to the word, a point or comma between digits to the
/// number. Text that is not UTF-8 is an error that names the byte.
Tokens split_words(std::string_view text);
/// Words with spaces between them, and none before a mark that closes: the inverse of split_words for plain
/// sentences.
std::string join_words(const Tokens& tokens);

/// The characters of a text one by one, for languages that write no spaces: 我爱中国 -> 我 爱 中 国. White
/// space is left out unless it is to be kept; kept, the tokens one after the other are the text.
Tokens split_characters(std::string_view text, bool keep_space = false);

}  // namespace heed
