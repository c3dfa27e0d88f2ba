// Drives the bench of kernel regression in Chromium.

#include "tests/support/reader.h"

namespace {

std::string of_regression(const std::string& key, const Json& values = Json::object()) {
  return Reader::control("regression", key, values);
}

}  // namespace

TEST_CASE("page regression: what a hand moves, and what must and must not change with it" *
          doctest::test_suite("slow")) {
  Reader* const opened = open_playground();
  if (!opened) return;
  Reader& reader = *opened;
  // Of each point, and in the last row of all; the last answer is f(q).
  const auto keys = [&] { return reader.column("regression", 1); };
  const auto values = [&] { return reader.column("regression", 2); };
  const auto weights = [&] { return reader.column("regression", 3); };
  const auto answer = [&] { return reader.column("regression", 4).back(); };
  const std::string point = of_regression("point", {{"i", 25}, {"n", 50}});
  for_each_hand(reader, [&](Hand hand) {
    reader.press(of_regression("reset"), hand);
    const std::vector<double> key = keys(), value = values(), weight = weights();
    const double f = answer();

    reader.drag(point, 0, -40, hand);
    CHECK(values()[24] > value[24] + 0.1);
    CHECK(distance(keys(), key) == 0);
    CHECK(distance(weights(), weight) < 1e-4);
    CHECK(answer() > f);
    reader.drag(point, 30, 0, hand);
    CHECK(keys()[24] > key[24] + 0.05);
    CHECK(distance(weights(), weight) > 1e-3);
    CHECK(weights().back() == doctest::Approx(1).epsilon(1e-3));

    const std::vector<double> moved = weights();
    reader.drag(of_regression("query"), 60, 0, hand);
    CHECK(distance(weights(), moved) > 1e-3);
    const double w = reader.numbers("[name=regression] .reach output")[0];
    reader.drag(Reader::part("regression", ".ball"), 60, 0, hand);
    CHECK(reader.numbers("[name=regression] .reach output")[0] > w);

    reader.slide(of_regression("w"), -0.05, hand);  // w = 0
    for (const double one : weights()) CHECK((one == 0.02 || one == 1));
    CHECK(reader.has_found("regression", "mean"));
    reader.press(of_regression("reset"), hand);
    CHECK(distance(weights(), weight) == 0);
    reader.press(Reader::option("regression", "kernel", "kernel.boxcar"), hand);
    CHECK(distance(weights(), weight) > 1e-3);
    reader.slide(of_regression("noise"), 0, hand);
    CHECK(distance(keys(), key) == 0);
    CHECK(values()[49] == doctest::Approx(2 * std::sin(key[49]) + std::pow(key[49], 0.8)).epsilon(0.01));

    reader.press(of_regression("add"), hand);
    CHECK(keys().size() == 52);
    reader.press(of_regression("remove"), hand);
    CHECK(keys().size() == 51);
  });
}

TEST_CASE("page regression: learns w, cheats with the own point, and takes points of the reader's own" *
          doctest::test_suite("slow")) {
  Reader* const opened = open_playground();
  if (!opened) return;
  Reader& reader = *opened;
  const auto learn = [&] {
    reader.press(of_regression("learn"));
    reader.wait_until(of_regression("learn"));  // until then the button says Stop
  };
  learn();
  const double at_rest = reader.numbers("[name=regression] .reach output")[0];
  CHECK(at_rest > 1);
  reader.press(Reader::option("regression", "own", "own.kept"));
  learn();
  CHECK(reader.numbers("[name=regression] .reach output")[0] > 10 * at_rest);
  CHECK(reader.has_found("regression", "cheat"));
  reader.drag(of_regression("query"), -340, 0);  // to the left of all keys
  CHECK(reader.has_found("regression", "nearest"));

  reader.press(of_regression("csv"));
  const auto use = [&](const std::string& text) {
    reader.write("eyes.one('[name=regression] textarea')", text);
    reader.press(of_regression("csv.use"));
    return reader.text("[name=regression] textarea ~ [role=status]");
  };
  CHECK(use("") == reader.words("regression.csv.few"));
  CHECK(use("1,2\n3,4\n5") == "Point 3 does not have two numbers.");
  CHECK(use("1,2\n3,\xF0\x9F\x98\x80\n5,6") == "Point 2 does not have two numbers.");
  CHECK(use("time,height\n0,1\n1.2 3\n3;2\n4,1e1") == "4 points are in use.");
  const std::vector<double> keys = reader.column("regression", 1);
  CHECK(std::vector<double>(keys.begin(), keys.end() - 1) == std::vector<double>{0, 1.2, 3, 4});
  learn();
  CHECK(reader.tab.console() == "");
}
