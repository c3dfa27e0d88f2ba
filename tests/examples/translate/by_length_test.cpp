#include "examples/translate/by_length.h"

#include "tests/support/expect.h"

TEST_CASE("by_length: exact translations of each length and of thirds") {
  const std::vector<heed::Tokens> sources = {{"a", "b", "c"}, {"a"},      {"a", "b"},
                                             {"b"},           {"b", "c"}, {"c", "a", "b"}};
  const std::vector<heed::Tokens> right = {{"x"}, {"y"}, {"z"}, {"u"}, {"v"}, {"w"}};
  std::vector<heed::Tokens> answers = right;
  answers[0] = answers[4] = {};
  const program::Lengths lengths = program::by_length(sources, answers, right);
  REQUIRE(lengths.each.size() == 3);
  CHECK(lengths.each.at(1).value() == 1);
  CHECK(lengths.each.at(2).value() == 0.5);
  CHECK(lengths.each.at(3).of == 2);
  CHECK(lengths.each.at(3).exact == 1);
  CHECK(lengths.thirds[0].value() == 1);
  CHECK(lengths.thirds[2].value() == 0.5);
  CHECK(lengths.lost() == 0.5);
  CHECK(program::trend(lengths) == "falls by 0.5");
  CHECK(program::trend(program::Lengths()) == "stays");
  CHECK(program::Share().value() == 0);
}
