#include "examples/g2p/pronunciation.h"

#include <algorithm>
#include <chrono>
#include <clocale>
#include <cwctype>

#include "nn/files/text_file.h"
#include "tensor/table.h"
#include "tensor/utf8.h"

using namespace heed;

namespace program {
namespace {

// The character in its other case; itself if it has none.
std::string other_case(const std::string& letter) {
  static const locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  const auto code = static_cast<wint_t>(first_character(letter).code);
  if (!unicode) return letter;
  const wint_t upper = towupper_l(code, unicode);
  return utf8(static_cast<uint32_t>(upper != code ? upper : towlower_l(code, unicode)));
}

}  // namespace

Tokens spelled(const Translation& model, Tokens letters) {
  for (std::string& letter : letters)
    if (!model.knows(letter) && model.knows(other_case(letter))) letter = other_case(letter);
  return letters;
}

Tokens unseen(const Translation& model, const Tokens& letters) {
  Tokens found;
  for (const std::string& letter : letters) {
    const std::string shown = letter == " " ? "the space" : printable(letter);
    if (!model.knows(letter) && std::ranges::find(found, shown) == found.end()) found.push_back(shown);
  }
  return found;
}

Tokens known_letters(const Translation& model, const std::string& word) {
  check(std::ssize(word) <= kLongestWordBytes, "has more than ", kLongestWordBytes,
        " bytes; a word has at most ", kLongestWord, " letters");
  check_utf8("the word", word);
  Tokens letters = spelled(model, letters_of(std::string(trim(word))));
  check(!letters.empty(), "an empty word is not said");
  check(std::ssize(letters) <= kLongestWord, "has ", letters.size(), " letters; a word has at most ",
        kLongestWord);
  const Tokens strange = unseen(model, letters);
  check(strange.empty(), "the model has never seen ", detail::listed(strange),
        "; it knows the letters of its training alone");
  return letters;
}

std::string percent(double share) { return short_number(100 * share) + " %"; }

std::string spaced(const Tokens& phones) {
  std::string text;
  for (const std::string& phone : phones) text += (text.empty() ? "" : " ") + phone;
  return text;
}

std::string made_from(const AttentionMap& map, const Tokens& phones) {
  std::string text;
  for (size_t i = 0; i < phones.size(); ++i) {
    const std::vector<double> weights = map.row(static_cast<int64_t>(i));
    const auto letter = static_cast<size_t>(std::ranges::max_element(weights) - weights.begin());
    text += (i ? " " : "") + phones[i] + "←" + map.keys[letter];
  }
  return text;
}

std::vector<std::vector<Answer>> pronounce(std::span<const Translation> models,
                                           const std::vector<Tokens>& words, int64_t beams) {
  return models.front().search(words, {.max_length = kLongestWord + 1, .width = beams}, models.subspan(1));
}

Measured measure(std::span<const Translation> models, const std::vector<Entry>& entries, int64_t beams) {
  const auto start = std::chrono::steady_clock::now();
  Measured result;
  std::vector<Tokens> sources;
  for (const Entry& entry : entries) {
    sources.push_back(spelled(models.front(), entry.letters));
    result.strange += !unseen(models.front(), sources.back()).empty();
  }
  for (std::vector<Answer>& answers : pronounce(models, sources, beams)) {
    result.answers.push_back(std::move(answers.front().tokens));
    result.score.add(entries[result.answers.size() - 1], result.answers.back());
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

std::string of_all(const std::string& words, const std::vector<Entry>& sample, int64_t all) {
  if (std::ssize(sample) == all) return words;
  return "of " + std::to_string(all) + " " + words + " (--test-words 0 takes all)";
}

void report(Program& self, const Translation& model, const std::string& what,
            const std::vector<Entry>& entries, const Measured& measured, const std::string& file) {
  const PhoneScore& score = measured.score;
  self.text() << score.words << " " << what << ": " << percent(score.word_errors()) << " of the words wrong, "
              << percent(score.phone_errors()) << " of the phones; " << short_number(measured.seconds)
              << " s\n";
  if (measured.strange > 0)
    self.text() << measured.strange << " of them have letters that the model has never seen\n";
  self.result("words", score.words);
  self.result("word_errors", score.word_errors());
  self.result("phone_errors", score.phone_errors());
  self.result("unseen_letters", measured.strange);
  self.result("decoding_seconds", measured.seconds);

  std::string answers;
  for (size_t i = 0; i < entries.size(); ++i)
    answers += entries[i].word + "\t" + spaced(measured.answers[i]) + "\n";
  self.write(file, answers);

  constexpr size_t kShown = 10;
  Table table({"word", "made from", "", "listed as"});
  for (const bool right : {true, false}) {
    // Spread over the file, which may be in the order of the alphabet.
    std::vector<size_t> places;
    for (size_t i = 0; i < entries.size(); ++i)
      if (PhoneScore().add(entries[i], measured.answers[i]) == right) places.push_back(i);
    const size_t count = std::min(kShown, places.size());
    for (size_t k = 0; k < count; ++k) {
      const size_t i = places[(2 * k + 1) * places.size() / (2 * count)];
      std::string listed;
      for (const Tokens& sound : entries[i].sounds) listed += (listed.empty() ? "" : ", ") + spaced(sound);
      const Tokens letters = spelled(model, entries[i].letters);
      table.add({entries[i].word,
                 made_from(model.alignment(letters, measured.answers[i]), measured.answers[i]),
                 right ? "right" : "wrong", right ? "" : listed});
    }
  }
  if (table.rows() > 0) self.text() << "\n" << table.to_string() << "\n";
}

}  // namespace program
