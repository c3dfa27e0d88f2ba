#pragma once

#include <span>
#include <string>
#include <vector>

#include "examples/g2p/lexicon.h"
#include "examples/shared/program.h"
#include "examples/translate/translation.h"

/// Models that translate letters to phones: asked, and measured. Of several the first one's letters count;
/// they answer together.
namespace program {

/// The letters as the model knows them: one that it has never seen in the other case, if it has seen that.
heed::Tokens spelled(const Translation& model, heed::Tokens letters);
/// The letters that the model has never seen, each once, as messages show them.
heed::Tokens unseen(const Translation& model, const heed::Tokens& letters);
/// The letters of a word, spelled(). Errors: it is no UTF-8, blank, longer than kLongestWord, or has letters
/// that the model has never seen.
heed::Tokens known_letters(const Translation& model, const std::string& word);

/// How words are said, whose letters are spelled(): up to `beams` answers for each, the best first.
std::vector<std::vector<Answer>> pronounce(std::span<const Translation> models,
                                           const std::vector<heed::Tokens>& words, int64_t beams);

/// 0.221 as "22.1 %"
std::string percent(double share);
/// "AH B AW T"
std::string spaced(const heed::Tokens& phones);
/// Each phone with the letter that it looked at most: "AH←A B←B AW←O T←T".
std::string made_from(const heed::AttentionMap& map, const heed::Tokens& phones);

/// What came of asking for all words of a list.
struct Measured {
  PhoneScore score;
  std::vector<heed::Tokens> answers;
  int64_t strange = 0;  // words with letters that the model has never seen
  double seconds = 0;
};
Measured measure(std::span<const Translation> models, const std::vector<Entry>& entries, int64_t beams);
/// What report() calls a sample: "of 12000 words (--test-words 0 takes all)" instead of "words". `all` is the
/// number of words that it was taken from.
std::string of_all(const std::string& words, const std::vector<Entry>& sample, int64_t all);
/// Says it and puts it into the results; shows ten words that are right and ten that are not, or fewer;
/// writes all answers into a file, a word, a tab, its phones on each line.
void report(Program& self, const Translation& model, const std::string& what,
            const std::vector<Entry>& entries, const Measured& measured, const std::string& file);

}  // namespace program
