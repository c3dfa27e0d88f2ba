#include "examples/playground/model.h"

#include <heed/text.h>

#include <numeric>

#include "examples/playground/message.h"
#include "tests/support/expect.h"

using namespace program;

namespace {

using Numbers = std::vector<float>;

Numbers with_text(Numbers request, const std::string& text) {
  append(request, text);
  return request;
}

std::string sample_text(float language) {
  const Numbers answer = model_sample(Numbers{language});
  return RequestReader("answer", answer).text("text");
}

// An answer of model_write: the characters, and the weights of each that was written.
struct Written {
  std::string text;
  std::vector<Values> weights;
};
Written written(const Numbers& request) {
  const Numbers answer = model_write(request);
  RequestReader read("answer", answer);
  Written result;
  for (int64_t left = read.integer("count", 1, 1000); left > 0; --left) result.text += read.text("character");
  for (float left = request[2]; left > 0; --left)
    result.weights.push_back(read.numbers("weights", read.integer("seen", 1, 48)).to_vector<double>());
  read.end();
  return result;
}

}  // namespace

TEST_CASE("playground model: sentences to begin with, in both languages") {
  CHECK(contains(sample_text(0), " "));
  CHECK(contains(sample_text(1), "我"));
  for (const float language : {0.0F, 1.0F}) CHECK(std::ranges::count(sample_text(language), '\n') == 100);
}

TEST_CASE("playground model: it learns, and goes on from call to call") {
  const Numbers sizes = model_begin(model_begin_first());
  CHECK(sizes[0] > 1000);
  CHECK(sizes[1] > 20);
  CHECK(sizes[2] > 50000);
  const Numbers first = model_learn(Numbers{0, 50});
  CHECK(first.size() == 52);
  CHECK(first[0] == 50);
  CHECK(first[1] == doctest::Approx(std::log2(sizes[1])).epsilon(0.2));  // before training: all alike
  CHECK(first[2] > first.back() + 1);
  const Numbers second = model_learn(Numbers{50, 50});
  CHECK(second[0] == 100);
  CHECK(second[1] < first[1] - 1);

  CHECK(model_learn(Numbers{0, 50}) == first);
  model_begin(model_begin_first());
  CHECK(model_learn(Numbers{0, 50}) == first);
}

TEST_CASE("playground model: it writes on, and says what each character was predicted from") {
  model_begin(model_begin_first());
  const Written one = written(with_text({1, 0.7F, 60}, "I l😀ove"));
  CHECK(one.text.starts_with("I love"));  // 😀 is unknown
  CHECK(std::ssize(split_characters(one.text, true)) == 66);
  REQUIRE(one.weights.size() == 60);
  CHECK(one.weights[0].size() == 6);
  CHECK(one.weights[59].size() == 48);
  for (const Values& weights : one.weights)
    CHECK(std::accumulate(weights.begin(), weights.end(), 0.0) == doctest::Approx(1));
  CHECK(written(with_text({1, 0.7F, 60}, "I love")).text == one.text);
  CHECK(written(with_text({2, 0.7F, 60}, "I love")).text != one.text);
  CHECK(written(with_text({1, 0, 30}, "He ")).text == written(with_text({2, 0, 30}, "He ")).text);
  CHECK(written(with_text({1, 1, 1}, "")).text.starts_with("\n"));
}

TEST_CASE("playground model: messages") {
  model_begin(model_begin_first());
  CHECK_THROWS_WITH(model_learn(Numbers{5, 1}),
                    "model_learn: the training has reached step 0, not 5; begin again at step 0");
  CHECK_THROWS_WITH(model_begin(with_text({1}, "too short")),
                    "the text has 9 characters; the model needs at least 600");
  CHECK_THROWS_WITH(model_begin(with_text({1}, "\xff")), doctest::Contains("the text"));
  std::string all;
  for (uint32_t code = 0x4e00; code < 0x4e00 + 1001; ++code) all += heed::utf8(code);
  CHECK_THROWS_WITH(model_begin(with_text({1}, all)),
                    "the text has 1001 different characters; 1000 are the limit");
}
