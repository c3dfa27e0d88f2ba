#include "examples/guide/stills.h"

#include "examples/playground/plane.h"
#include "examples/playground/record.h"
#include "examples/playground/regression.h"
#include "tensor/table.h"
#include "tests/support/expect.h"

using namespace program;
using heed::decimals;

static const BenchWords& english_words() {
  static const BenchWords words = bench_words("en");
  return words;
}

static Still still(const std::string& bench, const std::string& state = "") {
  return still_of(bench, state, english_words(), "{}");
}

TEST_CASE("stills: the words are those of the playground") {
  CHECK(english_words()("regression.title") == "Regression is attention");
  CHECK(bench_words("zh")("regression.title") == "回归就是注意力");
  CHECK_ERROR_HAS(english_words()("regression.none"), "strings.en.json has no words for regression.none");
}

TEST_CASE("stills: the numbers are those of the functions of the playground") {
  std::vector<float> request = regression_first();
  request[0] = 4;
  const std::vector<float> answer = regression(request);
  const Still fit = still("regression", "w=4");
  REQUIRE(fit.table.size() == 52);
  CHECK(fit.table[7][3] == decimals(answer[3 + 6], 4));
  CHECK(fit.table[51][4] == decimals(answer[0], 4));
  CHECK(contains(fit.picture, "f(q) = " + decimals(answer[0], 2)));

  request = plane_first();
  request[0] = 0;
  const Still choice = still("plane", "score=0");
  CHECK(choice.table[2][4] == decimals(plane(request)[5 + 1], 4));
  CHECK(choice.table.size() == 6);
  CHECK(contains(choice.picture, "fill=\"var(--pink, #b8568f)\" fill-opacity=\"0.25\""));  // the plane
}

TEST_CASE("stills: masks, graphs and chains follow the state") {
  const Still masked = still("tokens", "allowed=1,0,0,0,1,1,0,0,1,1,1,0,1,1,1,1");
  CHECK(masked.table[0] == std::vector<std::string>{"query", "river", "money", "bank", "the", "Z"});
  CHECK(masked.table[1][1] == "1.000");
  CHECK(contains(masked.picture, "masked"));

  const Still graph = still("tape", "text=x = 3; a = x * x; b = 2 * a; y = a * b");
  CHECK(graph.table[1] == std::vector<std::string>{"x", "leaf", "3", "216"});
  CHECK(contains(graph.picture, "216"));
  CHECK(!contains(graph.picture, "expression.cpp"));

  const Still chain = still("length", "factor=1");
  CHECK(chain.table.back() == std::vector<std::string>{"64", "1", "0.01562"});
  const Still fading = still("length", "factor=0.5");
  CHECK(fading.table[1] == std::vector<std::string>{"8", "0.007812", "0.125"});
}

TEST_CASE("stills: the translators are those of the record") {
  const std::string record = recorded_training(10);
  const Still learned = still_of("translators", "at=1", english_words(), record);
  CHECK(contains(learned.picture, "step 10"));
  CHECK(learned.table[0].size() == 4);
  CHECK(learned.table.size() > 3);
  CHECK_ERROR_HAS(still_of("translators", "at=2", english_words(), record),
                  "it must be an integer from 0 to 1");
}

TEST_CASE("stills: errors name the benches and the states that there are") {
  CHECK_ERROR_HAS(
      still("regresion"),
      "there is no bench regresion; there are length, plane, regression, tape, tokens, translators");
  CHECK_ERROR_HAS(still("regression", "weight=1"),
                  "the bench regression has no state weight; it has w, kernel, own, query");
  CHECK_ERROR_HAS(still("plane", "score=9"), "score");
  CHECK_ERROR_HAS(still("length", "T=100"), "T is 100; it must be an integer from 2 to 64");
}
