#include "examples/translate/by_length.h"

#include "tests/support/expect.h"
#include "tests/support/program.h"

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

TEST_CASE("draw_lengths: the title says whether the sentences are unseen; bars for one model, else lines") {
  const Folder folder;
  program::Lengths lengths;
  lengths.each = {{2, {1, 2}}, {5, {3, 3}}};
  const auto drawn = [&](const std::vector<std::string>& names, bool unseen) {
    program::Program self("translate", "");
    self.out = folder.path.string();
    std::vector<std::pair<std::string, const program::Lengths*>> models;
    for (const std::string& name : names) models.emplace_back(name, &lengths);
    draw_lengths(self, models, unseen);
    return read_file(folder / "by_length.gp");
  };
  const std::string bars = drawn({"rnn"}, true);
  CHECK(contains(bars, "set title 'Exact translations of unseen sentences'"));
  CHECK(contains(bars, "with boxes"));
  CHECK(read_file(folder / "by_length.csv") == "length,sentences,exact_match\n2,2,0.5\n5,3,1\n");
  const std::string lines = drawn({"rnn", "attention"}, false);
  CHECK(contains(lines, R"(set title "Exact translations of the\nsentences learned from")"));
  CHECK(contains(lines, "using 1:3 with linespoints lw 2 pt 7 title 'attention'"));
  CHECK(read_file(folder / "by_length.csv") == "length,rnn,attention\n2,0.5,0.5\n5,1,1\n");
}
