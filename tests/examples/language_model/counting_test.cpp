#include "examples/language_model/counting.h"

#include "tests/support/expect.h"

using namespace program;

TEST_CASE("counting_advice: which training predicts better than counting") {
  const BitsPerByte best{3, 1.5, 1.4}, between{3, 1.5, 2}, worst{3, 1.5, 3.5};
  const auto begins = [](const std::string& text, const std::string& how) {
    CHECK(text == "\nThis training was too short, and counting predicts better than the model: " + how +
                      " would do much better.\n");
  };
  CHECK(counting_advice(best, {1, 0.1, false, false}).empty());
  for (const BitsPerByte& bits : {between, worst}) {
    begins(counting_advice(bits, {50, 0.1, false, false}), "--minutes 1");
    begins(counting_advice(bits, {50, 0, false, false}), "--steps 500");
    begins(counting_advice(bits, {50, 2, false, false}), "--steps 500");  // 20 minutes train a larger model
    begins(counting_advice(bits, {50, 12, true, false}), "--minutes 120");
    CHECK(counting_advice(bits, {500, 1.7, false, false}) ==
          "\nCounting still predicts better than the model; --minutes 60, with a larger model, would do.\n");
    for (const bool larger : {true, false})
      CHECK(counting_advice(bits, {500, 20, larger, true}) ==
            "\nCounting still predicts better than the model; a longer training may do better.\n");
  }
}
