#include "examples/translate/grammar.h"

#include <map>
#include <set>

#include "tests/support/expect.h"

using heed::Tokens;
using program::Pair;

static std::vector<Pair> corpus(uint64_t seed, int64_t count = 6000) {
  heed::Generator random(seed);
  return program::generate_corpus(random, count);
}

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
  std::set<std::string> sources;
  for (const Pair& pair : pairs) sources.insert(pair.source);
  CHECK(sources.size() == 6000);
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
