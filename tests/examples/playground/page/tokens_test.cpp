// Drives the bench of the four tokens in Chromium.

#include "tests/support/reader.h"

namespace {

std::string of_tokens(const std::string& key, const Json& values = Json::object()) {
  return Reader::control("tokens", key, values);
}

}  // namespace

TEST_CASE("page tokens: what a hand changes, and what must and must not change with it" *
          doctest::test_suite("slow")) {
  Reader* const opened = open_playground();
  if (!opened) return;
  Reader& reader = *opened;
  // All numbers of a matrix, row by row.
  const auto matrix = [&](const std::string& name) -> std::vector<double> {
    return reader.tab.evaluate("eyes.numbers(" + Reader::picture("tokens", "matrix." + name) +
                               ".ariaLabel.split(': ')[1])");
  };
  const auto row = [](const std::vector<double>& all, size_t index, size_t width) {
    return std::vector<double>(all.begin() + static_cast<long>(index * width),
                               all.begin() + static_cast<long>((index + 1) * width));
  };
  for_each_hand(reader, [&](Hand hand) {
    reader.press(of_tokens("reset"), hand);
    const std::vector<double> X = matrix("X"), K = matrix("K"), A = matrix("A"), Z = matrix("Z");

    reader.drag(Reader::part("tokens", ".word", 2), 20, -30, hand);  // the third word
    CHECK(row(matrix("X"), 0, 4) == row(X, 0, 4));
    CHECK(matrix("X")[4] > X[4]);
    CHECK(matrix("X")[5] > X[5]);
    CHECK(distance(matrix("A"), A) > 0.01);
    reader.press(of_tokens("reset"), hand);

    reader.slide(of_tokens("turn", {{"name", "Q"}}), 60, hand);
    CHECK(matrix("K") == K);
    CHECK(distance(matrix("Q"), X) > 0.1);
    CHECK(distance(matrix("A"), A) > 0.01);
    reader.slide(of_tokens("turn", {{"name", "Q"}}), 0, hand);
    reader.slide(of_tokens("turn", {{"name", "V"}}), 60, hand);
    CHECK(matrix("A") == A);
    CHECK(distance(matrix("Z"), Z) > 0.1);
    reader.press(of_tokens("reset"), hand);

    // A cell that is chosen shows its sum; a masked one is hatched and has the weight 0.
    reader.pick(Reader::picture("tokens", "matrix.A"), 2, 1, hand);
    CHECK(reader.text("[name=tokens] .sum").starts_with("A = exp("));
    CHECK(reader.tab.evaluate(Reader::picture("tokens", "matrix.S") + ".querySelectorAll('.mark').length") ==
          4);
    reader.press(of_tokens("forbid"), hand);
    const std::vector<double> masked = matrix("A");
    CHECK(masked[9] == 0);
    CHECK(masked[8] + masked[10] + masked[11] == doctest::Approx(1).epsilon(0.02));
    CHECK(row(masked, 0, 8) == row(A, 0, 8));
    CHECK(row(masked, 3, 4) == row(A, 3, 4));
    for (const char* name : {"matrix.S", "matrix.A"})
      CHECK(reader.tab.evaluate(Reader::picture("tokens", name) + ".querySelectorAll('.forbidden').length") ==
            1);
    CHECK(reader.text("[name=tokens] .sum") == reader.words("tokens.masked"));
    reader.press(of_tokens("allow"), hand);
    CHECK(matrix("A") == A);

    reader.press(of_tokens("causal"), hand);
    for (size_t i = 0; i < 16; ++i) CHECK((matrix("A")[i] == 0) == (i % 4 > i / 4));
    CHECK(reader.has_found("tokens", "causal"));
    reader.press(of_tokens("reset"), hand);

    // Without positions the rows of Z move with their words.
    reader.press(of_tokens("shuffle"), hand);
    CHECK(row(matrix("Z"), 0, 2) == row(Z, 2, 2));
    CHECK(row(matrix("Z"), 1, 2) == row(Z, 1, 2));
    reader.press(of_tokens("reset"), hand);
    reader.press(of_tokens("positions"), hand);
    const std::vector<double> placed = matrix("Z");
    reader.press(of_tokens("shuffle"), hand);
    CHECK(distance(row(matrix("Z"), 0, 2), row(placed, 2, 2)) > 0.01);
    CHECK(reader.has_found("tokens", "order"));
    reader.press(Reader::option("tokens", "heads", "2"), hand);
    CHECK(matrix("Y").size() == 8);
  });
}
