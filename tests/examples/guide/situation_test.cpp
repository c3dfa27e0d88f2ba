#include "examples/guide/situation.h"

#include "tests/support/expect.h"

using namespace program;

TEST_CASE("situation: keys have texts and numbers, coded as in a URL") {
  Situation state("tape", "text=y%20=+a %2B b&w=4&allowed=1,0,0.5");
  CHECK(state.text("text", "") == "y = a + b");
  CHECK(state.text("other", "usual") == "usual");
  float w = 1, own = 1;
  state.replace("w", w);
  state.replace("own", own);
  CHECK(w == 4);
  CHECK(own == 1);
  std::vector<float> allowed(3, 1);
  state.replace("allowed", allowed);
  CHECK(allowed == std::vector<float>{1, 0, 0.5});
  state.end();
}

TEST_CASE("situation: errors say what is wrong") {
  Situation state("regression", "w=four&query=1,2&q=1");
  float number = 0;
  CHECK_ERROR_HAS(state.replace("w", number), "w=four: \"four\" is not a number");
  CHECK_ERROR_HAS(state.replace("query", number), "query=1,2 has 2 numbers instead of 1");
  CHECK_ERROR_HAS(state.end(), "the bench regression has no state q; it has w, query");
  Situation none("regression", "");
  none.end();
}
