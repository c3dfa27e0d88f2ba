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
