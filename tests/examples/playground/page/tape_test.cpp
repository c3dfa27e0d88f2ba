// Drives the bench of the tape in Chromium.

#include "tests/support/reader.h"

namespace {

std::string of_tape(const std::string& key) { return Reader::control("tape", key); }

}  // namespace

TEST_CASE("page tape: what a hand changes, and each gradient is that of finite differences" *
          doctest::test_suite("slow")) {
  Reader* const opened = open_playground();
  if (!opened) return;
  Reader& reader = *opened;
  const auto formula = [&] { return reader.tab.evaluate(of_tape("text") + ".value").get<std::string>(); };
  const auto gradients_are_right = [&] {
    const std::vector<double> gradient = reader.column("tape", 3), difference = reader.column("tape", 4);
    bool one = false;
    for (size_t i = 0; i < gradient.size(); ++i)
      if (!std::isnan(difference[i])) {
        one = true;
        CHECK(gradient[i] == doctest::Approx(difference[i]).epsilon(0.01));
      }
    CHECK(one);
    CHECK(reader.text("[name=tape] .leaves").find("✗") == std::string::npos);
  };
  for_each_hand(reader, [&](Hand hand) {
    reader.press(of_tape("example.twice"), hand);
    CHECK(formula() == "x = 3; a = x * x; b = 2 * a; y = a * b");
    const std::string at_first = reader.text("[name=tape] .step");
    CHECK(at_first == reader.words("tape.start"));
    reader.press(of_tape("on"), hand);
    CHECK(reader.text("[name=tape] .step").starts_with(reader.words("tape.forward")));
    reader.press(of_tape("back"), hand);
    CHECK(reader.text("[name=tape] .step") == at_first);
    reader.slide(of_tape("step"), 6, hand);
    CHECK(reader.numbers("[name=tape] .reach output") == std::vector<double>{6, 6});
    CHECK(reader.text("[name=tape] .step").starts_with(reader.words("tape.backward")));
    gradients_are_right();
    CHECK(reader.column("tape", 3)[0] == 216);  // 8 x^3

    reader.slide(Reader::part("tape", ".leaf input"), 1.5, hand);
    CHECK(formula().starts_with("x = 1.5; a = x * x"));
    gradients_are_right();
    CHECK(reader.column("tape", 3)[0] == 27);

    reader.press(Reader::option("tape", "order", "order.early"), hand);
    CHECK(reader.text("[name=tape] .told").find("✗") != std::string::npos);
    reader.press(Reader::option("tape", "order", "order.waits"), hand);
    gradients_are_right();

    reader.press(of_tape("example.attention"), hand);
    reader.slide(Reader::part("tape", ".leaf input", 1), -1, hand);  // k[0]
    CHECK(formula().find("k = [-1, 1, 2]") != std::string::npos);
    gradients_are_right();
    reader.write(of_tape("text"), "y = exp(u) * v");
    CHECK(reader.tab.evaluate("eyes.bench('tape').querySelectorAll('.leaves .leaf').length") == 2);
    gradients_are_right();
  });
}

// The first change makes a text of the first request, whose nodes may have other numbers.
TEST_CASE("page tape: a slider moves its leaf the first time and again" * doctest::test_suite("slow")) {
  Reader* const opened = open_playground();
  if (!opened) return;
  Reader& reader = *opened;
  for (const std::string value : {"-2.35", "1.5", "-0.25"}) {
    reader.slide(Reader::part("tape", ".leaf input", 2), std::stod(value));
    CHECK(reader.tab.evaluate("eyes.bench('tape').bench.state.text") ==
          "w = 0.5; x = 2; b = " + value + "; y = tanh(w * x + b)");
  }
}

TEST_CASE("page tape: plays, asks for gradients, and says what is wrong in a formula" *
          doctest::test_suite("slow")) {
  Reader* const opened = open_playground();
  if (!opened) return;
  Reader& reader = *opened;
  reader.press(of_tape("example.twice"));
  reader.slide(of_tape("step"), 4);
  reader.press(of_tape("play"));
  reader.wait_until("eyes.one('[name=tape] .reach output').textContent === '6 / 6'");
  reader.wait_until(of_tape("play"));  // until then the button says Pause

  reader.slide(of_tape("step"), 3);
  reader.press("eyes.one('[name=tape] .toggle input')", Hand::finger);
  const auto is_asked = [&] {
    return bool(reader.tab.evaluate("eyes.isVisible(" + Reader::part("tape", ".guess input") + ")"));
  };
  const auto guess = [&](const std::string& answer) {
    if (!is_asked()) reader.press(of_tape("on"));
    reader.write(of_tape("answer"), answer);
    return reader.text("[name=tape] .guess [role=status]") + reader.text("[name=tape] .row > output");
  };
  CHECK(guess("17") == reader.words("tape.incorrect"));
  CHECK(guess("1, 2") == "Numbers needed: 1, separated by commas.");
  CHECK(guess("18").ends_with("Right. In a row: 1."));  // y = a * b sends b = 18 to a
  CHECK(guess("18").ends_with("Right. In a row: 2."));  // b = 2 * a sends 2 * 9
  CHECK(guess("108").ends_with("Right. In a row: 3."));
  CHECK(reader.has_found("tape", "three"));

  // A question ends with the formula that it is about, even before that is drawn.
  reader.press(of_tape("example.bias"));
  for (int steps = 0; !is_asked() && steps < 20; ++steps) reader.press(of_tape("on"));
  REQUIRE(is_asked());
  reader.tab.evaluate(
      "{ const {bench} = eyes.bench('tape'); bench.write('y = x +'); bench.check(); bench.giveHint(); }");
  reader.settle();
  CHECK(!is_asked());

  for (const char* wrong : {"y = sin(", "😀", "y = x +", "y = [1, 2] * [1, 2, 3]", "y = 1e999", ""}) {
    CAPTURE(wrong);
    reader.write(of_tape("text"), wrong);
    CHECK(reader.text("[name=tape] .fault").starts_with("This cannot be computed. "));
  }
  reader.press(of_tape("example.bias"));
  CHECK(reader.text("[name=tape] .fault") == "");
  CHECK(reader.tab.console() == "");
}
