#include "examples/playground/translators.h"

#include "examples/playground/message.h"
#include "nn/text/tokenise.h"
#include "tests/support/expect.h"

using namespace program;

namespace {

using Numbers = std::vector<float>;

Numbers request_of(float state, float attends, const std::string& text, const Numbers& cells = {}) {
  Numbers request = {state, attends};
  append(request, text);
  append(request, static_cast<double>(cells.size() / 2));
  request.insert(request.end(), cells.begin(), cells.end());
  return request;
}

// An answer of translators_translate.
struct Translated {
  Tokens unknown, words, keys;
  Values weights;
};
Translated translated(const Numbers& request) {
  const Numbers answer = translators_translate(request);
  RequestReader read("answer", answer);
  const auto tokens = [&] {
    Tokens all(static_cast<size_t>(read.integer("count", 0, 100)));
    for (std::string& token : all) token = read.text("token");
    return all;
  };
  Translated result;
  result.unknown = tokens();
  if (!result.unknown.empty()) return result;
  result.words = tokens();
  result.keys = tokens();
  if (request[1] == 1)
    result.weights =
        read.numbers("weights", std::ssize(result.words) * std::ssize(result.keys)).to_vector<double>();
  read.end();
  return result;
}

}  // namespace

TEST_CASE("playground translators: training goes on from call to call, and step 0 begins again") {
  const Numbers first = translators_learn(Numbers{1, 0, 2}), second = translators_learn(Numbers{1, 2, 1});
  CHECK(first.size() == 5);
  CHECK(first[0] == 2);
  CHECK(second[0] == 3);
  const Numbers together = translators_learn(Numbers{1, 0, 3});
  CHECK(Numbers(together.begin() + 1, together.begin() + 5) == Numbers(first.begin() + 1, first.end()));
  CHECK(together[5] == second[1]);
  CHECK(translators_learn(Numbers{2, 0, 1})[1] != first[1]);
  CHECK_THROWS_WITH(translators_learn(Numbers{1, 7, 1}),
                    "translators_learn: the training has reached step 1, not 7; begin again at step 0");
}

TEST_CASE("playground translators: the state before the first step can be kept") {
  translators_learn(Numbers{4, 0, 0});
  translators_keep(Numbers{0});
  const Translated untrained = translated(request_of(0, 1, "我爱中国"));
  translators_learn(Numbers{4, 0, 10});
  CHECK(translated(request_of(0, 1, "我爱中国")).weights == untrained.weights);
  CHECK(translated(request_of(-1, 1, "我爱中国")).weights != untrained.weights);
  translators_learn(Numbers{4, 0, 1});
  CHECK_THROWS_WITH(translators_translate(request_of(0, 1, "我")), "there is no kept state 0");
}

TEST_CASE("playground translators: translations, unknown words and forbidden cells") {
  translators_learn(Numbers{1, 0, 1});
  CHECK(translators_keep(Numbers{3}) == Numbers{1});
  const Translated plain = translated(request_of(3, 1, "我爱中国。"));
  CHECK(plain.keys == Tokens{"我", "爱", "中", "国"});
  CHECK(plain.weights.size() == 4 * plain.words.size());
  CHECK(translated(request_of(-1, 1, "我爱中国")).weights == plain.weights);
  const Translated masked = translated(request_of(3, 1, "我爱中国", {0, 2}));
  CHECK(masked.weights[2] == 0);
  CHECK(translated(request_of(3, 0, "我爱中国")).weights.empty());
  CHECK(translated(request_of(-1, 1, "我飞")).unknown == Tokens{"飞"});
  CHECK_THROWS_WITH(translators_translate(request_of(-1, 1, "我", {0, 1})),
                    "translators_translate: token of the source is 1; it must be an integer from 0 to 0");
  CHECK_THROWS_WITH(translators_translate(request_of(-1, 1, "。")),
                    doctest::Contains("a sentence has 1 to 40"));
  CHECK_THROWS_WITH(translators_translate(request_of(9, 1, "我")), "there is no kept state 9");
}

TEST_CASE("playground translators: scores, and parameters that are loaded") {
  translators_learn(Numbers{1, 0, 20});
  const std::string packed = translators_packed();
  const Numbers before = translators_score(Numbers{-1});
  CHECK(std::ssize(before) == 1 + 4 * static_cast<int64_t>(before[0]));
  const Values all = translated(request_of(-1, 1, "我爱中国")).weights, learned(all.begin(), all.begin() + 4);
  Numbers request;
  append(request, packed);
  CHECK(translators_load(request) == Numbers{static_cast<float>(packed.size())});
  const Translated loaded = translated(request_of(-1, 1, "我爱中国"));
  CHECK(largest_difference(Values(loaded.weights.begin(), loaded.weights.begin() + 4), learned) < 0.05);
  request.push_back(0);
  CHECK_THROWS_WITH(translators_load(request), "translators_load: the request has 1 numbers too many");
}
