// Drives the bench of lengths in Chromium.

#include "tests/support/reader.h"

namespace {

std::string of_length(const std::string& key) { return Reader::control("length", key); }

}  // namespace

TEST_CASE("page length: what a hand changes, and what must and must not change with it" *
          doctest::test_suite("slow")) {
  Reader* const opened = open_playground();
  if (!opened) return;
  Reader& reader = *opened;
  // The last number of a line in the picture.
  const auto line = [&](int figure, int text) {
    return reader
        .numbers("[name=length] figure:nth-of-type(" + std::to_string(figure) +
                 ") svg text.strong:nth-of-type(" + std::to_string(text) + ")")
        .back();
  };
  for_each_hand(reader, [&](Hand hand) {
    reader.slide(of_length("T"), 24, hand);
    reader.slide(of_length("factor"), 0.9, hand);
    const double chain = line(1, 4), arc = line(1, 1);
    CHECK(chain == doctest::Approx(std::pow(0.9, 23)).epsilon(0.001));
    CHECK(arc == doctest::Approx(1.0 / 24).epsilon(0.001));
    reader.slide(of_length("T"), 32, hand);
    CHECK(line(1, 4) == doctest::Approx(std::pow(0.9, 31)).epsilon(0.001));
    CHECK(line(1, 1) == doctest::Approx(1.0 / 32).epsilon(0.001));
    reader.slide(of_length("factor"), 1, hand);
    CHECK(line(1, 4) == 1);
    CHECK(line(1, 1) == doctest::Approx(1.0 / 32).epsilon(0.001));

    for (const double block : {2.0, 4.0}) {
      reader.press(Reader::option("length", "block", std::to_string(static_cast<int>(block))), hand);
      for (int i = 0; i < 8 / block; ++i) {
        reader.press(of_length("on"), hand);
        CHECK(reader.tab.evaluate(
                  "eyes.one('[name=length] .tile.now').parentNode.querySelectorAll('.tile.now').length") ==
              2 * block);
      }
      const std::string last = "[name=length] figure:nth-of-type(2) svg text:last-of-type";
      const std::vector<double> both = reader.numbers(last);
      CHECK(both.size() == 2);
      CHECK(both.front() == both.back());
      reader.slide(of_length("at"), 0, hand);
      CHECK(reader.tab.evaluate("eyes.one('[name=length] .tile.now')") == Json());
    }
    CHECK(reader.has_found("length", "rescale"));
    reader.press(Reader::option("length", "cache", "cache.decoding"), hand);
    reader.press(Reader::option("length", "cache", "cache.layers"), hand);
  });
}

TEST_CASE("page length: measures this browser" * doctest::test_suite("slow")) {
  Reader* const opened = open_playground();
  if (!opened) return;
  Reader& reader = *opened;
  for (const char* compared : {"cache.layers", "cache.decoding"}) {
    reader.press(Reader::option("length", "cache", compared));
    reader.press(of_length("measure"));
    reader.wait_until(
        "eyes.one('[name=length] figure:nth-of-type(3) > p').textContent === word('length.measured')");
  }
  const Json rows = reader.tables("length")[2];
  CHECK(rows.size() == 5 * 4);
  CHECK(reader.has_found("length", "double"));
  // Attention's multiplications grow as the square of the length, those of a recurrent layer as the length.
  const std::vector<double> work = reader.column("length", 3, 2);
  CHECK(work[3] == 8 * work[0]);
  CHECK(work[7] == 64 * work[4]);
  CHECK(reader.tab.console() == "");
}
