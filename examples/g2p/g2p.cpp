// Spelling to pronunciation: learned from a list of words, asked for words that no list has.
//
//   g2p train          learns from a file of words and phones, by default a small model on a part of CMUdict
//   g2p convert WORD   prints how a word is pronounced; with --alignment, which letters made each phone
//   g2p evaluate FILE  counts how many words of a file are wrong, by default of 2000 of them
//   g2p export         writes the model into ONNX files, for Python and others
//
//   gru          encoder and decoder of GRUs with additive attention, whose context goes into the decoder's
//                state
//   transformer  three layers in the encoder and in the decoder

#include <heed.h>
#include <heed/files.h>
#include <heed/text.h>

#include <iostream>

#include "examples/g2p/converter.h"
#include "examples/g2p/learning.h"

using namespace heed;
using namespace program;

namespace {

// Reads the next line of standard input. Only the beginning of a very long line is kept, which is no word
// anyway.
bool read_line(std::string& line) {
  line.clear();
  while (std::cin) {
    const int c = std::cin.rdbuf()->sbumpc();
    if (c == '\n') return true;
    if (c == EOF)
      std::cin.setstate(std::ios::eofbit | std::ios::failbit);
    else if (std::ssize(line) <= kLongestWordBytes)
      line += static_cast<char>(c);
  }
  return !line.empty();
}

// Waits for a line of standard input. Returns it and those that are already there, up to the number of words
// that are converted together. Returns none at the end.
std::vector<std::string> waiting_lines() {
  constexpr size_t kAtOnce = 256;
  std::vector<std::string> lines;
  for (std::string line;
       lines.size() < kAtOnce && (lines.empty() || std::cin.rdbuf()->in_avail() > 0) && read_line(line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.emplace_back(trim(line));
  }
  return lines;
}

void convert(Program& self, const G2pOptions& options) {
  check_range("--n-best", options.n_best, 1, 1000);
  Converter converter(self, options);
  std::vector<std::string> words(options.arguments.begin() + 1, options.arguments.end());
  if (words.empty()) {
    std::ios::sync_with_stdio(false);  // for in_avail
    words = waiting_lines();
    check(!words.empty(), "convert: there are no words; name some, or give lines on standard input");
    words[0] = trim(without_byte_order_mark(words[0]));
    for (; !words.empty(); words = waiting_lines()) converter.convert(words);
  } else {
    converter.convert(words);
  }
  converter.write_page();
}

void evaluate(Program& self, const G2pOptions& options) {
  check(options.arguments.size() == 2, "evaluate: name one file of words and phones");
  int64_t skipped = 0;
  std::vector<Entry> entries = read_lexicon(options.arguments[1], options.skip_bad, &skipped);
  report_skipped(self, skipped);
  const auto all = std::ssize(entries);
  entries = sampled(std::move(entries), options.test_words);
  const std::vector<Translation> models = load_word_models(self, options);
  const Measured measured = measure(models, entries, options.beams);
  report(self, models.front(), of_all("words", entries, all), entries, measured, "answers.tsv");
}

// Throws if an option is not for this command.
void check_command(Program& self, G2pOptions& options) {
  if (options.arguments.empty()) options.arguments = {"train"};
  const std::string& command = options.arguments[0];
  check(command == "train" || command == "convert" || command == "evaluate" || command == "export",
        "there is no command ", printable(command),
        "; there are train, convert, evaluate and export (g2p convert ", printable(command), "?)");
  check(command != "train" || options.arguments.size() == 1, "train takes no word; --train names a file");
  check_range("--beams", options.beams, 1, 1000);
  check_range("--test-words", options.test_words, 0, 1000000000);
  self.only(command, {"train"}, Trainings::options(true));
  self.only(command, {"train"},
            {"--model", "--train", "--dev", "--test", "--minutes", "--epochs", "--words", "--width",
             "--layers", "--dropout", "--smoothing", "--batch", "--lr", "--average"});
  self.only(command, {"convert"}, {"--n-best", "--alignment"});
  self.only(command, {"convert", "evaluate"}, {"--ensemble"});
  self.only(command, {"train", "convert", "evaluate"}, {"--beams"});
  self.only(command, {"train", "evaluate"}, {"--skip-bad", "--test-words"});
  if (command == "convert" && !options.alignment) self.only_read();
}

}  // namespace

int main(int argc, char** argv) {
  Program self(
      "g2p",
      "Learns how words are said from a list of them, and says others: g2p train, g2p convert WORD..., g2p "
      "evaluate FILE. By default it trains a small model on 20000 words of CMUdict in about two minutes; "
      "--minutes 10 or more, --epochs, --width, --words and --train take the larger one and all words. The "
      "model goes into --out, by default out/g2p. g2p export --onnx FILE writes it for Python and others.");
  self.out = "out/g2p";
  Trainings trainings(self, 500, true);
  G2pOptions options;
  const OnnxFiles onnx(self, options.arguments);
  self.arguments(
      "command", options.arguments,
      "train (the default); convert and words, or lines on standard input; evaluate and a file; export");
  self.choice("--model", options.model, {"gru", "transformer"}, "train: what to train");
  self.option(
      "--train", options.train,
      "train: learn from this file instead: a word, a tab, its phones with spaces between them on each line");
  self.option("--dev", options.dev,
              "train: words to choose the best model by (default: a fortieth of --train)");
  self.option("--test", options.test, "train: words to test with at the end, and never before");
  self.option("--test-words", options.test_words,
              "train, evaluate: test with this many of the words, spread evenly; 0: with all");
  self.flag("--skip-bad", options.skip_bad, "Skip the lines of files that cannot be used, and count them");
  self.option("--minutes", options.minutes, "train: how long (default: 1.7); the rate falls to 0 at the end");
  self.option("--epochs", options.epochs, "train: how often each word is seen, instead of --minutes");
  self.option("--words", options.words,
              "train: learn from this many of the words alone; 0: all (of the small model 20000)");
  self.option("--width", options.width,
              "train: of the model; 0: 384, of a transformer 256, of the small model 128");
  self.option("--layers", options.layers,
              "train: of encoder (and transformer's decoder); 0: 2, of a transformer 3");
  self.option("--dropout", options.dropout, "train: share of numbers left out (of the small model 0.1)");
  self.option("--smoothing", options.smoothing, "train: share of each answer spread over all phones");
  self.option("--batch", options.batch, "train: pronunciations in a step (of the small model 64)");
  self.option("--lr", options.lr, "train: largest learning rate (of the small model 0.002)");
  self.option("--average", options.average,
              "train: try the mean of this many last epochs, too; 0: of a fifth of all; 1: do not");
  self.option("--ensemble", options.ensemble,
              "convert, evaluate: models that answer together, a file each, instead of the one in --out");
  self.option("--beams", options.beams, "Width of beam search, at least that of --n-best; 1 is greedy");
  self.option("--n-best", options.n_best,
              "convert: how many pronunciations to print for each word, with their scores");
  self.flag("--alignment", options.alignment,
            "convert: which letters each phone was made from, as text, picture and page");
  self.require([&] { check_command(self, options); });
  return self.run(argc, argv, [&] {
    const std::string& command = options.arguments[0];
    if (command == "train") return train_g2p(self, trainings, options);
    if (onnx.asked()) return load_word_models(self, options).front().write_onnx(onnx);
    self.expect_no_pictures();
    command == "convert" ? convert(self, options) : evaluate(self, options);
  });
}
