#include "examples/translate/corpus.h"

#include <set>

#include "tests/support/expect.h"
#include "tests/support/program.h"

using heed::Generator;
using heed::Tokens;
using program::Pair;

namespace {

std::vector<Pair> corpus(uint64_t seed, int64_t count = 6000) {
  Generator random(seed);
  return program::generate_corpus(random, count);
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

TEST_CASE("corpus: each sentence has one translation, the expected one") {
  std::map<std::string, std::string> all;
  for (uint64_t seed = 0; seed < 8; ++seed)
    for (const Pair& pair : corpus(seed, 12000)) {
      const auto [known, added] = all.insert({pair.source, pair.target});
      if (!added && known->second != pair.target) FAIL_CHECK(pair.source);
    }
  const std::map<std::string, std::string> meant = {
      {"我爱中国", "I love China"},
      {"我昨天在北京吃了苹果", "I ate an apple in Beijing yesterday"},
      {"他们很喜欢北京", "They like Beijing very much"},
      {"他们有三本书", "They have three books"},
      {"老师和我的朋友喝了三杯热茶", "The teacher drank three cups of hot tea with my friend"},
      {"我的朋友是工程师", "My friend is an engineer"},
      {"她昨天没去学校", "She did not go to school yesterday"},
      {"你明天去中国吗", "Will you go to China tomorrow?"},
      {"他明天晚上去哪里", "Where will he go tomorrow evening?"},
      {"谁昨天去了公园", "Who went to the park yesterday?"},
      {"你在上海买了什么", "What did you buy in Shanghai?"},
      {"他现在去图书馆", "He is going to the library now"},
      {"他不想去上海", "He does not want to go to Shanghai"},
      {"他们都喜欢北京", "They all like Beijing"},
      {"小明喜欢读书", "Xiaoming likes to read books"},
      {"老师昨天和她去了中国", "The teacher went to China with her yesterday"},
      {"你有几封信", "How many letters do you have?"},
      {"我们每天早上喝茶", "We drink tea every morning"},
      {"他不爱旧书", "He does not love old books"},
      {"他有旧书", "He has an old book"},
      {"我妈妈昨天不在家", "My mother was not at home yesterday"},
  };
  for (const auto& [source, target] : meant) {
    CAPTURE(source);
    CHECK(all[source] == target);
  }
}

TEST_CASE("corpus: the requested number of distinct pairs, reproducible, of all lengths") {
  const std::vector<Pair> pairs = corpus(1);
  CHECK(pairs.size() == 6000);
  CHECK(sources_of(pairs).size() == 6000);
  CHECK(pairs == corpus(1));
  CHECK(pairs != corpus(2));
  std::map<size_t, int64_t> lengths;
  for (const Pair& pair : pairs) {
    const Tokens chinese = program::tokenise(pair.source), english = program::tokenise(pair.target);
    ++lengths[chinese.size()];
    CHECK(program::join(chinese) == pair.source);
    CHECK(program::join(english) == pair.target);
  }
  CHECK(lengths.begin()->first == 3);
  CHECK(lengths.rbegin()->first == 16);
  for (size_t length = 4; length <= 15; ++length) CHECK(lengths[length] > 100);
}

TEST_CASE("split: test sentences are unseen, their words are not") {
  const std::vector<Pair> pairs = corpus(1);
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
        "p.tsv: 2 rows cannot be used; correct or remove what is wrong, or pass over it by --skip-bad\n"
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
              "/nonexistent/p.tsv: cannot be read; is it there, and is it a file?");
}
