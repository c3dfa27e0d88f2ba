#include "examples/g2p/pronunciation.h"

#include "tests/support/expect.h"

using namespace program;

static Translation untrained(const std::vector<Tokens>& letters, const std::vector<Tokens>& phones) {
  manual_seed(1);
  return Translation({.model = "fed", .attention = "additive", .embedding = 8, .width = 8},
                     Vocabulary(letters), Vocabulary(phones));
}

TEST_CASE("pronunciation: an unseen letter is tried in the other case") {
  const Translation model = untrained({{"A", "B", "ø", "ß", "Ж"}}, {{"AH"}});
  CHECK(spelled(model, {"a", "B", "Ø", "ß", "ж"}) == Tokens{"A", "B", "ø", "ß", "Ж"});
  CHECK(spelled(model, {"c", "我"}) == Tokens{"c", "我"});
  CHECK(unseen(model, {"A", "c", "我", "c", "\x1b"}) == Tokens{"c", "我", "U+001B"});
  CHECK(unseen(model, {"A"}).empty());
  CHECK(known_letters(model, "aØ") == Tokens{"A", "ø"});
  CHECK_ERROR(known_letters(model, " "), "an empty word is not said");
  CHECK_ERROR(known_letters(model, "ac"),
              "the model has never seen c; it knows the letters of its training alone");
  CHECK_ERROR(known_letters(model, std::string(101, 'A')), "has 101 letters; a word has at most 100");
  CHECK_ERROR_HAS(known_letters(model, "\xff"), "the word");
}

TEST_CASE("pronunciation: each phone with the letter of its largest weight") {
  const AttentionMap map(tensor({{0.1, 0.9}, {0.8, 0.2}, {0.5, 0.5}}, float64), {"OW", "N", "<eos>"},
                         {"n", "o"});
  CHECK(made_from(map, {"OW", "N"}) == "OW←o N←n");
  CHECK(spaced({"OW", "N"}) == "OW N");
  CHECK(spaced({}) == "");
  CHECK(percent(0.2214) == "22.14 %");
  CHECK(of_all("words", {{}, {}}, 2) == "words");
  CHECK(of_all("words", {{}, {}}, 5) == "of 5 words (--test-words 0 takes all)");
}

TEST_CASE("pronunciation: measures a list that contains words with unseen letters") {
  std::vector<Translation> models;
  models.push_back(untrained({{"a", "b"}}, {{"AH", "B"}}));
  const Tokens said = pronounce(models, {{"a", "b"}}, 2)[0].front().tokens;
  const Measured measured =
      measure(models, {{"ab", {"a", "b"}, {{"NEVER"}, said}}, {"ax", {"a", "x"}, {{"NEVER"}}}}, 2);
  CHECK(measured.answers[0] == said);
  CHECK(measured.score.words == 2);
  CHECK(measured.score.wrong == 1);
  CHECK(measured.strange == 1);
}

TEST_CASE("pronunciation: an answer has at most 2 phones for each letter and 8") {
  Tokens phones;
  for (int i = 0; i < 40; ++i) phones.push_back("P" + std::to_string(i));
  std::vector<Translation> models;
  models.push_back(untrained({{"a", "b"}}, {phones}));
  const std::vector<Tokens> words = {{"a", "b"}, {"a"}};
  CHECK(most_phones(2) == 12);
  for (const int64_t beams : {1, 3}) {
    // Without the limit it goes on to the end.
    CHECK(models[0].search(words, {.max_length = 101, .width = beams})[0].front().tokens.size() == 101);
    for (const std::vector<Answer>& answers : pronounce(models, words, beams))
      CHECK(std::ssize(answers.front().tokens) == most_phones(2));  // of the longest word
    CHECK(std::ssize(pronounce(models, {{"a"}}, beams)[0].front().tokens) == most_phones(1));
  }
}

TEST_CASE("pronunciation: a text is cut to its columns") {
  CHECK(cut("AH←A B←B", 8) == "AH←A B←B");
  CHECK(cut("AH←A B←B", 7) == "AH←A B…");
  CHECK(cut("AH←A B←B", 6) == "AH←A…");
  CHECK(cut("汉字汉字", 6) == "汉字…");
  CHECK(display_width(cut(std::string(100, 'x'))) == 40);
}
