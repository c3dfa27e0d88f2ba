#include "examples/g2p/learning.h"

#include <iostream>
#include <sstream>

#include "tests/support/results.h"

using namespace program;

// g2p_test.cpp tests trainings as a whole.
TEST_CASE("train_g2p: a validation after each epoch, and pictures of errors and losses") {
  const Folder folder;
  std::string words;
  for (char c = 'a'; c < 'm'; ++c) words += std::string(3, c) + "\t" + c + " " + c + "\n";
  const std::string file = folder.write("words.tsv", words);
  const Run run =
      run_program("g2p", "train --train " + file + " --dev " + file +
                             " --epochs 2 --batch 4 --width 4 --layers 1 --beams 1 --out " + folder / "out");
  REQUIRE_MESSAGE(run.code == 0, run.err);
  for (const char* part :
       {"epoch 1: loss ", "epoch 2: loss ", " % of the words to choose by wrong\n",
        ", 2 epochs: too few to learn much; --epochs 3 would do\n", "\nThis training was too short, and ",
        " of the words are wrong: --epochs 3 would do.\n"})
    CHECK_MESSAGE(contains(run.out, part), part);
  CHECK(lines_of(read_file(folder / "out/word_errors.csv")).size() == 3);
  CHECK(lines_of(read_file(folder / "out/log.jsonl")).size() == 6);
  CHECK(occurrences(read_file(folder / "out/log.jsonl"), "validation") == 2);

  const Run enough = run_program("g2p", "train --train " + file + " --dev " + file +
                                            " --epochs 3 --batch 4 --width 4 --layers 1 --beams 1 --out " +
                                            folder / "enough");
  for (const char* part : {"too few to learn much", "too short"}) CHECK_FALSE(contains(enough.out, part));
}

TEST_CASE("report_skipped: a line if there are any, and a result; g2p_model_file: in --out") {
  const Folder folder;
  const auto reported = [&](int64_t lines) {
    Program self("g2p", "");
    std::string name = "g2p", option = "--json", file = folder / "r.json";
    char* argv[] = {name.data(), option.data(), file.data()};
    std::ostringstream printed;
    std::streambuf* const before = std::cout.rdbuf(printed.rdbuf());
    const int code = self.run(3, argv, [&] { report_skipped(self, lines); });
    std::cout.rdbuf(before);
    CHECK(code == 0);
    CHECK(Json::parse(read_file(file))["skipped"] == lines);
    return printed.str();
  };
  CHECK(reported(0).empty());
  CHECK(reported(3) == "3 lines were skipped\n");
  Program self("g2p", "");
  self.out = "there";
  CHECK(g2p_model_file(self) == "there/g2p.safetensors");
}
