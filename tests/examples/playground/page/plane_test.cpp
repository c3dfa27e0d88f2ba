// Drives the bench of scores and normalizers in Chromium.

#include "tests/support/reader.h"

namespace {

std::string of_plane(const std::string& key, const Json& values = Json::object()) {
  return Reader::control("plane", key, values);
}
std::string with_score(const std::string& score) {
  return Reader::option("plane", "score", "score." + score);
}
std::string with_normalizer(const std::string& name) {
  return Reader::option("plane", "normalizer", "normalizer." + name);
}

}  // namespace

TEST_CASE("page plane: what a hand moves, and what must and must not change with it" *
          doctest::test_suite("slow")) {
  Reader* const opened = open_playground();
  if (!opened) return;
  Reader& reader = *opened;
  const auto places = [&] {
    std::vector<double> x = reader.column("plane", 1), y = reader.column("plane", 2);
    x.insert(x.end(), y.begin(), y.end());
    return x;
  };
  const auto scores = [&] { return reader.column("plane", 3); };
  const auto weights = [&] { return reader.column("plane", 4); };
  for_each_hand(reader, [&](Hand hand) {
    reader.press(of_plane("reset"), hand);
    const std::vector<double> place = places(), score = scores(), weight = weights();
    CHECK(weight.size() == 5);

    reader.drag(of_plane("key", {{"i", 2}}), 30, 30, hand);
    const std::vector<double> after = places(), changed = scores();
    CHECK(after[1] > place[1]);
    CHECK(after[6] < place[6]);
    for (const size_t other : {0, 2, 3, 4}) {
      CHECK(after[other] == place[other]);
      CHECK(changed[other] == score[other]);
    }
    CHECK(changed[1] != score[1]);
    CHECK(distance(weights(), weight) > 1e-3);

    const std::vector<double> before = weights();
    reader.drag(of_plane("query"), -40, 20, hand);
    CHECK(places() == after);
    CHECK(distance(weights(), before) > 1e-3);

    // W counts only where the score has it.
    reader.press(with_score("bilinear"), hand);
    const std::vector<double> bilinear = scores();
    reader.drag(of_plane("column", {{"c", 1}}), -20, -20, hand);
    CHECK(distance(scores(), bilinear) > 1e-2);
    reader.press(with_score("gaussian"), hand);
    for (const double one : scores()) CHECK(one <= 0);
    reader.press(with_normalizer("sparsemax"), hand);
    reader.press(with_score("dot"), hand);
    const std::vector<double> sparse = weights(), by = scores();
    CHECK(sparse[static_cast<size_t>(std::ranges::min_element(by) - by.begin())] == 0);
    CHECK(reader.has_found("plane", "zero"));

    reader.press(with_normalizer("hard"), hand);
    reader.press(of_plane("throw"), hand);
    reader.press(of_plane("throw"), hand);
    CHECK(reader.text("[name=plane] .pictures > div figure").find("200") != std::string::npos);
    reader.slide(of_plane("width"), 2, hand);
    CHECK(reader.text("[name=plane] .reach output") == "d = 4");
  });
}

TEST_CASE("page plane: learns the hidden rotation" * doctest::test_suite("slow")) {
  Reader* const opened = open_playground();
  if (!opened) return;
  Reader& reader = *opened;
  reader.press(of_plane("learn"));
  reader.wait_until(of_plane("learn"));
  CHECK(reader.has_found("plane", "turned"));
  CHECK(reader.numbers("[name=plane] .row > output").back() > 80);
  CHECK(reader.tab.console() == "");
}
