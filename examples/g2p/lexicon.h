#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nn/text/tokenise.h"

/// Lists of words and how they are said, and how near an answer comes.
namespace program {

/// A word and all the ways in which it may be said.
struct Entry {
  std::string word;
  heed::Tokens letters;              // letters_of(word)
  std::vector<heed::Tokens> sounds;  // one at least, none of them empty
};

constexpr int64_t kLongestWord = 100;  // letters, and phones of a pronunciation
constexpr int64_t kLongestWordBytes = 20000;

/// The characters of a word, spaces among them, as a model reads them. Syllables of Hangul are written as the
/// two or three letters that they are made of (Unicode 15, 3.12): there are 11,172 of them, and of the
/// letters 67.
heed::Tokens letters_of(const std::string& word);

/// Reads a file of words: on each line a word, a tab, its phones with spaces between them; further
/// pronunciations behind further tabs, or on further lines. UTF-8, with or without a byte order mark, lines
/// ended by LF or CRLF; empty lines are ignored, and repeated pronunciations are read once. Words come in the
/// order of their first lines. Throws one error with all lines that cannot be used (heed::BadRows), unless
/// they are skipped, which adds their number to `skipped`. Throws if there is no word.
std::vector<Entry> read_lexicon(const std::string& path, bool skip_bad = false, int64_t* skipped = nullptr);

/// `count` of the entries, evenly spread through a file in the order of the alphabet; all for 0, or if there
/// are fewer.
std::vector<Entry> sampled(std::vector<Entry> entries, int64_t count);

/// How many answers are wrong, and by how much. A word of several pronunciations is right with any of them;
/// else it counts by the one that takes the fewest edits to become the answer, the longest of these:
///
///   word errors   wrong / words
///   phone errors  sum of edits / sum of the lengths of these pronunciations
struct PhoneScore {
  int64_t words = 0, wrong = 0, edits = 0, phones = 0;

  /// Whether the answer is right.
  bool add(const Entry& entry, const heed::Tokens& answer);
  double word_errors() const { return words ? static_cast<double>(wrong) / static_cast<double>(words) : 0; }
  double phone_errors() const {
    return phones ? static_cast<double>(edits) / static_cast<double>(phones) : 0;
  }
};

}  // namespace program
