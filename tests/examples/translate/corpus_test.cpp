#include "examples/translate/corpus.h"

#include <set>

#include "examples/translate/grammar.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"

using heed::Generator;
using heed::Tokens;
using program::Pair;

namespace {

std::vector<Pair> corpus_to_split() {
  Generator random(1);
  return program::generate_corpus(random);
}

std::set<std::string> words_of(const std::vector<Pair>& pairs) {
  std::set<std::string> words;
  for (const Pair& pair : pairs)
    for (const std::string& side : {pair.source, pair.target})
      for (const std::string& word : program::tokenise(side)) words.insert(word);
  return words;
}

std::set<std::string> sources_of(const std::vector<Pair>& pairs) {
  std::set<std::string> sources;
  for (const Pair& pair : pairs) sources.insert(pair.source);
  return sources;
}

std::vector<Pair> pairs_of(const std::string& text) {
  const Folder folder;
  return program::read_pairs(folder.write("p.tsv", text));
}

// The error message without the folder.
std::string pairs_refusal(const std::string& text) {
  const std::string error = message([&] { pairs_of(text); });
  return error.substr(error.rfind('/') + 1);
}

}  // namespace

TEST_CASE("split: test sentences are unseen, their words are not") {
  const std::vector<Pair> pairs = corpus_to_split();
  std::set<Texts> tests;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const auto [train, test] = program::split(pairs, seed);
    CHECK(test.size() == 600);
    CHECK(train.size() + test.size() == pairs.size());
    const std::set<std::string> trained = sources_of(train), tested = sources_of(test),
                                seen = words_of(train);
    for (const std::string& source : tested)
      if (trained.contains(source)) FAIL_CHECK(source);
    for (const std::string& word : words_of(test))
      if (!seen.contains(word)) FAIL_CHECK(word);
    CHECK(tested.contains("我爱中国"));
    CHECK(tested.contains("我昨天在北京吃了苹果"));
    CHECK(program::split(pairs, seed).test == test);
    tests.insert({tested.begin(), tested.end()});
  }
  CHECK(tests.size() == 3);  // other seeds give other test sets
  CHECK(program::split(pairs, 1, 0).test.size() == 2);
  CHECK_ERROR(program::split(pairs, 1, 1), "split: test_share is 1; it lies in [0, 1)");

  // Rare words and sentences with several translations stay in training.
  std::vector<Pair> own;
  for (int i = 0; i < 20; ++i) own.push_back({"a b", "c " + std::to_string(i)});
  for (const char* word : {"d", "e", "f"}) own.push_back({std::string("a ") + word, "c"});
  CHECK(program::split(own, 1, 0.5).test.empty());
}

TEST_CASE("tokenise and join: Chinese by characters, other text by words") {
  CHECK(program::tokenise("我爱中国") == Tokens{"我", "爱", "中", "国"});
  CHECK(program::tokenise("我 爱China") == Tokens{"我", "爱", "C", "h", "i", "n", "a"});
  CHECK(program::tokenise("Do you like tea?") == Tokens{"Do", "you", "like", "tea", "?"});
  CHECK(program::join({"Do", "you", "like", "tea", "?"}) == "Do you like tea?");
  CHECK(program::join({"我", "爱"}) == "我爱");
  CHECK(program::join({}) == "");
}

TEST_CASE("read_pairs: variants of the format, and errors") {
  std::string ten;
  for (char c = 'a'; c < 'k'; ++c) ten += std::string(1, c) + "\t" + c + c + "\n";
  CHECK(pairs_of(ten).size() == 10);
  CHECK(pairs_of(ten)[1] == Pair{"b", "bb"});
  CHECK(pairs_of("\xEF\xBB\xBF" + ten) == pairs_of(ten));
  CHECK(pairs_of(ten + ten) == pairs_of(ten));
  std::string crlf;
  for (const char c : ten) crlf += c == '\n' ? std::string("\r\n\r\n") : std::string(1, c);
  CHECK(pairs_of(crlf) == pairs_of(ten));
  CHECK(pairs_of(ten + "  我爱中国 \t I love China ").back() == Pair{"我爱中国", "I love China"});

  const std::string two = pairs_refusal("a\tb\nc d\n\na\tb\tc\n");
  CHECK(two ==
        "p.tsv: 2 rows cannot be used; correct or remove what is wrong, or skip bad rows\n"
        "  line  what is wrong\n"
        "     2  has no tab; a line is a sentence, a tab, its translation\n"
        "     4  has more than one tab; a line is a sentence, a tab, its translation");
  CHECK(pairs_refusal("a\tb\n\n\tc\n").ends_with("  3  the sentence before the tab is empty"));
  std::string many;
  for (int i = 0; i <= program::kLongestSentence; ++i) many += "a ";
  CHECK(pairs_refusal("a\tb\n" + many + "\tb\n")
            .ends_with(
                "2  the sentence before the tab has 201 words or characters, and at most 200 are taken"));
  CHECK(contains(pairs_refusal("a\tb\n我\t" + many), "2  the translation after the tab has 201 "));
  CHECK(contains(pairs_refusal("a\t \r\n"), "1  the translation after the tab is empty"));
  CHECK(contains(pairs_refusal("a\tb\n我\t\xE7\x88\n"),
                 "2  the line: byte 4 of the text is not UTF-8; save the text in UTF-8"));
  const Folder folder;
  int64_t skipped = 0;
  CHECK(program::read_pairs(folder.write("p.tsv", "no tab\n" + ten + "\tb\n"), true, &skipped) ==
        pairs_of(ten));
  CHECK(skipped == 2);
  CHECK(pairs_refusal("a\tb\na\tb\n") ==
        "p.tsv: has 1 different pairs; at least 10 are needed to train and to test");
  CHECK(pairs_refusal("") == "p.tsv: has 0 different pairs; at least 10 are needed to train and to test");
  CHECK_ERROR(program::read_pairs("/nonexistent/p.tsv"),
              "/nonexistent/p.tsv: cannot be read; does it exist, and is it a file?");
}
