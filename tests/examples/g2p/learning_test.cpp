#include "examples/g2p/learning.h"

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
  for (const char* part : {"epoch 1: loss ", "epoch 2: loss ", " % of the words to choose by wrong\n"})
    CHECK(contains(run.out, part));
  CHECK(lines_of(read_file(folder / "out/word_errors.csv")).size() == 3);
  CHECK(lines_of(read_file(folder / "out/log.jsonl")).size() == 6);
  CHECK(occurrences(read_file(folder / "out/log.jsonl"), "validation") == 2);
}

TEST_CASE("report_skipped: a line and a result; g2p_model_file: in --out") {
  Program self("g2p", "");
  std::string name = "g2p";
  char* argv[] = {name.data()};
  CHECK(self.run(1, argv, [&] { report_skipped(self, 0); }) == 0);
  self.out = "there";
  CHECK(g2p_model_file(self) == "there/g2p.safetensors");
}
