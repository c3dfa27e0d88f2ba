// Three questions that the page answers to a reader who does what it says, in Chromium.

#include "tests/support/reader.h"

namespace {

// Predicts, and returns the verdict that stands there after the reader has done what the page asks for.
std::string predict(Reader& reader, const std::string& bench, const std::string& answer) {
  reader.press(Reader::control(bench, "answer." + answer));
  return reader.text("[name=" + bench + "] .verdict");
}
std::string verdict(Reader& reader, const std::string& bench) {
  return reader.text("[name=" + bench + "] .verdict");
}

}  // namespace

TEST_CASE("page: what happens to the weights when a key moves? They change; when a value moves, they do not" *
          doctest::test_suite("slow")) {
  Reader* const opened = open_playground();
  if (!opened) return;
  Reader& reader = *opened;
  CHECK(predict(reader, "regression", "sideways") == reader.words("regression.try"));
  const auto weights = [&] { return reader.column("regression", 3); };
  const auto answer = [&] { return reader.column("regression", 4).back(); };
  const std::string point = Reader::control("regression", "point", {{"i", 25}, {"n", 50}});
  const std::vector<double> at_first = weights();
  const double f = answer();

  reader.drag(point, 0, -60);
  CHECK(weights() == at_first);
  CHECK(answer() > f);
  reader.wait_until("eyes.one('[name=regression] .said').textContent.includes('No weight has changed')");
  CHECK_FALSE(reader.has_found("regression", "key"));

  reader.drag(point, 250, 0);  // away from the query
  CHECK(distance(weights(), at_first) > 0.01);
  reader.wait_until("eyes.one('[name=regression] .said').textContent.includes('weights changed by up to')");
  CHECK(reader.has_found("regression", "key"));
  CHECK(verdict(reader, "regression") == reader.words("page.right") + reader.words("regression.because"));
  CHECK(reader.tab.console() == "");
}

TEST_CASE("page: why divide by the root of d? Without it one weight is 1 and the derivatives are 0" *
          doctest::test_suite("slow")) {
  Reader* const opened = open_playground();
  if (!opened) return;
  Reader& reader = *opened;
  CHECK(predict(reader, "plane", "same") == reader.words("plane.try"));
  struct Seen {
    double largest, entropy, slopes;
  };
  const auto look = [&](const std::string& score, int width) {
    reader.press(Reader::option("plane", "score", "score." + score));
    reader.slide(Reader::control("plane", "width"), std::log2(width));
    const std::string figures = "[name=plane] .pictures > div > figure";
    const Seen seen = {std::ranges::max(reader.column("plane", 4)),
                       reader.numbers(figures + " svg text:last-of-type").back(),
                       reader.numbers(figures + ":nth-of-type(2) svg text:last-of-type").back()};
    MESSAGE(score, ", d = ", width, ": largest weight ", seen.largest, ", entropy ", seen.entropy,
            ", derivatives ", seen.slopes);
    return seen;
  };
  const Seen narrow = look("dot", 2), dot = look("dot", 512);
  CHECK(dot.largest > 0.999);
  CHECK(dot.entropy < 0.01);
  CHECK(dot.slopes < 0.001);
  CHECK_FALSE(reader.has_found("plane", "root"));
  const Seen scaled = look("scaled", 512);
  CHECK(scaled.largest < 0.9);
  CHECK(scaled.entropy > 0.5);
  CHECK(scaled.slopes > 0.1);
  CHECK(scaled.slopes > 100 * dot.slopes);
  CHECK(narrow.slopes > 0.1);
  CHECK(reader.has_found("plane", "root"));
  CHECK(verdict(reader, "plane") == reader.words("page.wrong") + reader.words("plane.because"));
  CHECK(reader.tab.console() == "");
}

TEST_CASE("page: why must the gradient wait? A rule that runs at the first part loses the second" *
          doctest::test_suite("slow")) {
  Reader* const opened = open_playground();
  if (!opened) return;
  Reader& reader = *opened;
  CHECK(predict(reader, "tape", "all") == reader.words("tape.try"));
  reader.press(Reader::control("tape", "example.twice"));
  // The gradient of x and the finite difference, once both orders have been stepped through.
  const auto gradient = [&](const std::string& order) -> std::vector<double> {
    reader.press(Reader::option("tape", "order", "order." + order));
    reader.slide(Reader::control("tape", "step"), 0);
    while (!reader.tab.evaluate(Reader::control("tape", "on") + ".disabled"))
      reader.press(Reader::control("tape", "on"));
    return reader.numbers("[name=tape] .told");
  };
  const std::vector<double> waits = gradient("waits");
  CHECK_FALSE(reader.has_found("tape", "wrong"));
  const std::vector<double> early = gradient("early");
  CHECK(waits[0] == 216);  // y = 2 x^4
  CHECK(waits[1] == 216);
  CHECK(early[0] == 108);
  CHECK(early[1] == 216);
  CHECK(reader.text("[name=tape] .told").ends_with("✗"));
  CHECK(reader.has_found("tape", "wrong"));
  CHECK(verdict(reader, "tape") == reader.words("page.right") + reader.words("tape.because"));
  CHECK(reader.tab.console() == "");
}
