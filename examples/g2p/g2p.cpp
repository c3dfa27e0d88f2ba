// Spelling to pronunciation: learned from a list of words, asked for words that no list has.
//
//   g2p train          learns from a file of words and phones, by default a small model on a part of CMUdict
//   g2p convert WORD   how a word is said; with --alignment which letters each phone was made from
//   g2p evaluate FILE  how many words of a file are wrong
//
//   gru          encoder and decoder of GRUs with additive attention, whose context goes into the decoder's
//   state transformer  three layers on either side

#include <heed.h>
#include <heed/files.h>
#include <heed/text.h>
#include <heed/view.h>

#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>

#include "examples/g2p/pronunciation.h"
#include "examples/shared/csv.h"
#include "examples/shared/training.h"

using namespace heed;
using namespace program;

namespace {

constexpr const char* kAnew = "g2p train";
constexpr double kMinutesOfLarger = 10;  // minutes that the larger model is worth

struct Options {
  std::vector<std::string> arguments;  // what stands without a name: the command first
  std::vector<std::string> ensemble;
  std::string model = "gru", train, dev, test;
  int64_t width = 0, layers = 0, batch = 128, epochs = 0, words = 0, average = 0, beams = 5, n_best = 1;
  double minutes = 0, lr = 1e-3, dropout = 0.3, smoothing = 0.1;
  bool skip_bad = false, alignment = false;
};

void tell_skipped(Program& self, int64_t lines) {
  if (lines > 0) self.text() << lines << " lines are passed over\n";
  self.result("skipped", lines);
}

// ---- training ----

struct Data {
  std::vector<Entry> train, dev, test;
  std::vector<Tokens> sources, targets;  // of train, a pair for each pronunciation
};

Data read_data(Program& self, Options& options) {
  const std::string folder = HEED_SOURCE_DIR "/examples/g2p/cmudict/";
  const bool own = !options.train.empty();
  check(own || (options.dev.empty() && options.test.empty()),
        "--dev and --test go with --train; give that, too");
  int64_t skipped = 0;
  const auto read = [&](const std::string& path, const char* otherwise) {
    if (path.empty() && own) return std::vector<Entry>();
    return read_lexicon(path.empty() ? folder + otherwise : path, options.skip_bad, &skipped);
  };
  Data data{
      read(options.train, "train.tsv"), read(options.dev, "dev.tsv"), read(options.test, "test.tsv"), {}, {}};
  tell_skipped(self, skipped);

  // A part is spread over the file; so are the words to choose by, where there is no file of them.
  Generator random(self.seed, 2);
  std::vector<Entry> shuffled;
  for (const int64_t i : randperm(std::ssize(data.train), &random).to_vector<int64_t>())
    shuffled.push_back(data.train[static_cast<size_t>(i)]);
  data.train = std::move(shuffled);
  if (data.dev.empty()) {
    const size_t held = std::max<size_t>(1, data.train.size() / 40);
    check(data.train.size() > held, options.train,
          ": has one word; there must be one to learn and one to choose by");
    data.dev.assign(data.train.end() - static_cast<std::ptrdiff_t>(held), data.train.end());
    data.train.resize(data.train.size() - held);
  }
  if (options.words < std::ssize(data.train) && options.words > 0)
    data.train.resize(static_cast<size_t>(options.words));
  else
    options.words = 0;  // nothing is taken away
  for (const Entry& entry : data.train)
    for (const Tokens& sound : entry.sounds) {
      data.sources.push_back(entry.letters);
      data.targets.push_back(sound);
    }
  return data;
}

// Fills in what the other options leave open, and refuses what cannot be.
void settle(const Program& self, Options& options) {
  check_range("--words", options.words, 0, 1000000000);
  const bool small = options.minutes < kMinutesOfLarger && options.epochs == 0 && options.width == 0 &&
                     !self.given("--words") && options.train.empty();
  if (small) {
    options.width = 128;
    options.words = 20000;
    if (!self.given("--dropout")) options.dropout = 0.1;
    if (!self.given("--batch")) options.batch = 64;
    if (!self.given("--lr")) options.lr = 2e-3;
  }
  if (options.width == 0) options.width = options.model == "gru" ? 384 : 256;
  if (options.layers == 0) options.layers = options.model == "gru" ? 2 : 3;
  if (options.minutes == 0 && options.epochs == 0) options.minutes = 1.7;
  Plan::check(options.lr, options.minutes, "--epochs", options.epochs);
  check(options.width > 0 && options.width <= 4096 && options.width % 4 == 0, "--width is ", options.width,
        "; it must be a multiple of 4, and at most 4096");
  check_range("--layers", options.layers, 1, 100);
  check_range("--batch", options.batch, 1, 100000);
  check_range("--average", options.average, 0, 100000);
  check(options.dropout >= 0 && options.dropout < 1 && options.smoothing >= 0 && options.smoothing < 1,
        "--dropout and --smoothing must be from 0 and below 1");
}

// A model and all that teaches it.
class Learner {
 public:
  Learner(const Options& options, const Data& data, uint64_t seed)
      : translation(model_options(options), Vocabulary(data.sources), Vocabulary(data.targets)),
        optimizer(translation.module().parameters(), {.lr = options.lr}),
        averaged(translation.module()),
        batches(lengths(data), options.batch, Generator(seed, 1)),
        data_(data),
        smoothing_(options.smoothing) {}

  StepRecord step() {
    std::vector<Tokens> sources, targets;
    int64_t tokens = 0;
    for (const int64_t i : batches.next()) {
      sources.push_back(data_.sources[static_cast<size_t>(i)]);
      targets.push_back(data_.targets[static_cast<size_t>(i)]);
      tokens += std::ssize(targets.back()) + 1;
    }
    return descend(translation.loss(sources, targets, {.label_smoothing = smoothing_}), optimizer,
                   translation.module(), tokens);
  }

  Translation translation;
  Adam optimizer;
  AveragedModel averaged;
  BatchStream batches;

 private:
  static TranslatorOptions model_options(const Options& options) {
    return {.model = options.model == "gru" ? "fed" : "transformer",
            .attention = "additive",
            .embedding = options.width,
            .width = options.width,
            .layers = options.layers,
            .dropout = options.dropout,
            .layer_dropout = options.dropout};
  }
  // Words of one length together, those with as many phones next to each other.
  static std::vector<int64_t> lengths(const Data& data) {
    std::vector<int64_t> all;
    for (size_t i = 0; i < data.sources.size(); ++i)
      all.push_back(std::ssize(data.sources[i]) * (kLongestWord + 1) + std::ssize(data.targets[i]));
    return all;
  }

  const Data& data_;
  double smoothing_;
};

std::string model_file(const Program& self) { return self.out + "/g2p.safetensors"; }
std::string picture_file(size_t word) { return "alignment_" + std::to_string(word) + ".svg"; }

// Those of other words, or of the model before.
void forget_pictures(Program& self) {
  for (size_t word = 1; std::filesystem::exists(self.out + "/" + picture_file(word)); ++word)
    self.remove(picture_file(word));
  self.remove("attention.html");
}

void draw_errors(Program& self, const std::vector<double>& errors) {
  std::string rows = "epoch,word_errors\n";
  for (size_t i = 0; i < errors.size(); ++i)
    rows += std::to_string(i + 1) + "," + short_number(100 * errors[i]) + "\n";
  self.write("word_errors.csv", rows);
  self.plot("word_errors",
            "set datafile separator ','\nset title 'Words to choose by that are wrong, greedily'\n"
            "set xlabel 'epoch'\nset ylabel '%'\nset xrange [0:*]\nset yrange [0:*]\nunset key\n"
            "plot 'word_errors.csv' skip 1 using 1:2 with linespoints lw 2 pt 7\n");
}

std::string describe(const Data& data) {
  std::vector<std::string> words;
  for (const auto* entries : {&data.train, &data.dev})
    for (const Entry& entry : *entries) {
      words.push_back(entry.word);
      for (const Tokens& sound : entry.sounds) words.push_back(spaced(sound));
    }
  return std::to_string(data.sources.size()) + ", " + fingerprint(words);
}

// Leaves in the model what answers best, as the words to choose by say: what it was after an epoch, or the
// mean of the last. Returns which it is.
std::string keep_best(Learner& learner, Checkpoint& state, const std::string& best,
                      const std::vector<double>& errors,
                      const std::function<double(const Translation&)>& dev_errors) {
  const auto epoch = std::ranges::min_element(errors) - errors.begin() + 1;
  std::string after = "the model after epoch " + std::to_string(epoch) + ", " + percent(state.lowest());
  if (const int64_t averaged = learner.averaged.n_averaged(); averaged > 1) {
    learner.translation.module().load_state_dict(learner.averaged.module());
    const double of_mean = dev_errors(learner.translation);
    const std::string mean =
        "the mean of the last " + std::to_string(averaged) + " epochs, " + percent(of_mean);
    if (of_mean <= state.lowest()) return mean + ", not " + after;
    after += ", not " + mean;
  }
  state.load(best);
  return after;
}

void train(Program& self, Training& training, Options& options) {
  settle(self, options);
  const Data data = read_data(self, options);
  manual_seed(self.seed);
  Learner learner(options, data, self.seed);
  const auto batch_count = (std::ssize(data.sources) + options.batch - 1) / options.batch;
  std::ostream& text = self.text();
  text << data.train.size() << " words with " << data.sources.size() << " pronunciations to learn from, "
       << data.dev.size() << " to choose by" << (options.words > 0 ? ": a part of them (--words)" : "")
       << "\n"
       << options.model << ": " << learner.translation.module().parameter_count() << " parameters, "
       << options.width << " wide\n"
       << std::flush;

  std::vector<double> errors;  // of the words to choose by, after each epoch
  // Of models with as many words wrong the one is better that has fewer phones wrong.
  const auto dev_errors = [&data](const Translation& model) {
    const PhoneScore score = measure({&model, 1}, data.dev, 1).score;
    return score.word_errors() + 1e-9 * score.phone_errors();
  };
  Plan plan(training.folder(), learner.translation.module(), learner.optimizer, 1000);
  Checkpoint& state = plan.state;
  state.add("averaged", learner.averaged);
  state.add("batches", learner.batches);
  state.add("errors", errors);
  training.expect(state, {"--model", "--width", "--layers", "--batch", "--epochs", "--minutes", "--average",
                          "--lr", "--dropout", "--smoothing", "--seed"});
  state.expect("words", describe(data));
  plan.begin(training, [&] {
    if (options.epochs > 0) return options.epochs * batch_count;
    std::optional<Learner> trial;
    const int64_t count = Training::steps_in(60 * options.minutes, [&] {
      if (!trial) trial.emplace(options, data, self.seed);
      trial->step();
    });
    // Asking for a word to choose by takes about half the time of learning one.
    const int64_t learned = 2 * std::ssize(data.sources), all = learned + std::ssize(data.dev);
    return std::max<int64_t>(1, count * learned / all);
  });
  const int64_t steps = plan.steps, ends = (steps + batch_count - 1) / batch_count;  // of epochs
  const int64_t averaged = options.average > 0 ? options.average : std::max<int64_t>(2, ends / 5);
  text << steps << " steps of " << options.batch << ", "
       << short_number(static_cast<double>(steps) / static_cast<double>(batch_count)) << " epochs\n"
       << std::flush;

  training.keep_validated();
  training.run(state, steps, [&](int64_t step, bool) {
    StepRecord record = learner.step();
    plan.schedule.step();
    if ((step + 1) % batch_count != 0 && step + 1 < steps) return record;
    if (std::ssize(errors) >= ends - averaged)
      learner.averaged.update_parameters(learner.translation.module());
    record.validation = dev_errors(learner.translation);
    errors.push_back(record.validation);
    training.say("epoch " + std::to_string(errors.size()) + ": loss " + short_number(record.loss) + ", " +
                 percent(record.validation) + " of the words to choose by wrong\n");
    return record;
  });
  draw_errors(self, errors);
  self.result("dev_word_errors", from_vector(errors, {std::ssize(errors)}));
  text << "kept: " << keep_best(learner, state, training.folder() + "/best.safetensors", errors, dev_errors)
       << "\n";
  training.renew(model_file(self));
  learner.translation.save(model_file(self));
  forget_pictures(self);

  self.result("model", options.model);
  self.result("parameters", learner.translation.module().parameter_count());
  self.result("steps", steps);
  self.result("epochs", static_cast<double>(steps) / static_cast<double>(batch_count));
  self.below = "dev.";
  const Measured dev = measure({&learner.translation, 1}, data.dev, options.beams);
  report(self, learner.translation, "words to choose by", data.dev, dev, "dev_answers.tsv");
  if (!data.test.empty()) {
    self.below = "test.";
    const Measured test = measure({&learner.translation, 1}, data.test, options.beams);
    report(self, learner.translation, "words to test", data.test, test, "test_answers.tsv");
  }
  self.below = "";
  text << "\n"
       << model_file(self) << ": g2p convert WORD asks it"
       << (self.out == "out/g2p" ? "" : " (with this --out)")
       << (options.train.empty() && options.words > 0
               ? "; g2p train --minutes 55 makes a larger one from all words\n"
               : "\n");
}

// ---- asking ----

std::vector<Translation> load_models(const Program& self, const Options& options) {
  std::vector<std::string> files = options.ensemble;
  if (files.empty()) files.push_back(model_file(self));
  std::vector<Translation> models;
  for (const std::string& file : files) {
    check(std::filesystem::exists(file), file, ": there is no model; ", kAnew, " makes one");
    models.push_back(Translation::load(file, kAnew));
    const std::string& kind = models.back().options().model;
    check(kind == "fed" || kind == "transformer", file, ": is of translate; ", kAnew, " makes one for words");
  }
  return models;
}

// The word as it is shown, not more of it than a word may have.
std::string shown(const std::string& word) {
  std::string head = word.substr(0, 4 * kLongestWord);
  if (head.size() == word.size()) return printable(word);
  return printable(head.substr(0, valid_utf8(head))) + "…";
}

// Says words as they come.
class Speaker {
 public:
  Speaker(Program& self, const Options& options)
      : self_(self), options_(options), models_(load_models(self, options)) {
    if (options.alignment) forget_pictures(self);
  }

  // What cannot be read aloud is said in its place; the others are converted together.
  void say(const std::vector<std::string>& words) {
    const Translation& model = models_.front();
    std::vector<std::string> refused(words.size());
    std::vector<Tokens> sources;
    for (size_t i = 0; i < words.size(); ++i) try {
        sources.push_back(known_letters(model, words[i]));
      } catch (const Error& error) {
        refused[i] = error.what();
      }
    const auto found = pronounce(models_, sources, std::max(options_.beams, options_.n_best));

    std::ostream& text = self_.text();
    size_t at = 0;
    for (size_t i = 0; i < words.size(); ++i) {
      const std::string row = "words." + std::to_string(said_++);
      self_.result(row + ".word", shown(words[i]));
      if (!refused[i].empty()) {
        text << shown(words[i]) << "\t# " << refused[i] << "\n";
        self_.result(row + ".refused", refused[i]);
        self_.fail_at_end();
        continue;
      }
      const std::vector<Answer>& answers = found[at];
      std::vector<std::string> best;
      for (size_t k = 0; k < answers.size() && std::ssize(best) < options_.n_best; ++k) {
        best.push_back(spaced(answers[k].tokens));
        text << words[i] << "\t" << best.back();
        if (options_.n_best > 1) text << "\t" << short_number(answers[k].score);
        text << "\n";
      }
      self_.result(row + ".phones", best);
      if (options_.alignment) show_alignment(row, words[i], sources[at], answers.front().tokens);
      ++at;
    }
    check(bool(text << std::flush), "standard output cannot be written");
  }

  void write_page() const {
    if (!maps_.empty()) self_.write_picture("attention.html", attention_page(maps_));
  }

 private:
  void show_alignment(const std::string& row, const std::string& word, const Tokens& letters,
                      const Tokens& phones) {
    const Translation& model = models_.front();
    const std::string title = word + " → " + spaced(phones);
    const AttentionMap map = model.alignment(letters, phones, title);
    self_.text() << attention_text(map, self_.colour() ? TextStyle::coloured : TextStyle::plain) << "\n";
    self_.result(row + ".made_from", made_from(map, phones));
    self_.write_picture(picture_file(++drawn_), attention_svg(map));
    std::ranges::move(model.attention(letters, phones, title), std::back_inserter(maps_));
  }

  Program& self_;
  const Options& options_;
  std::vector<Translation> models_;
  int64_t said_ = 0;
  size_t drawn_ = 0;
  std::vector<AttentionMap> maps_;
};

// Reads the next line of standard input. Of a very long one only the beginning is kept: it is refused anyway.
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

// Waits for a line of standard input, and returns it with those that are already there, up to the number that
// is converted at once. Returns none at the end.
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

void convert(Program& self, const Options& options) {
  check_range("--n-best", options.n_best, 1, 1000);
  Speaker speaker(self, options);
  std::vector<std::string> words(options.arguments.begin() + 1, options.arguments.end());
  if (words.empty()) {
    std::ios::sync_with_stdio(false);  // for in_avail
    words = waiting_lines();
    check(!words.empty(), "convert: there are no words; name some, or give lines on standard input");
    words[0] = trim(unmarked(words[0]));
    for (; !words.empty(); words = waiting_lines()) speaker.say(words);
  } else {
    speaker.say(words);
  }
  speaker.write_page();
}

void evaluate(Program& self, const Options& options) {
  check(options.arguments.size() == 2, "evaluate: name one file of words and phones");
  int64_t skipped = 0;
  const std::vector<Entry> entries = read_lexicon(options.arguments[1], options.skip_bad, &skipped);
  tell_skipped(self, skipped);
  const std::vector<Translation> models = load_models(self, options);
  const Measured measured = measure(models, entries, options.beams);
  report(self, models.front(), "words", entries, measured, "answers.tsv");
}

// Refuses what is not for this command.
void check_command(Program& self, Options& options) {
  if (options.arguments.empty()) options.arguments = {"train"};
  const std::string& command = options.arguments[0];
  check(command == "train" || command == "convert" || command == "evaluate", "there is no command ",
        printable(command), "; there are train, convert and evaluate (g2p convert ", printable(command),
        "?)");
  check(command != "train" || options.arguments.size() == 1, "train takes no word; --train names a file");
  check_range("--beams", options.beams, 1, 1000);
  self.only(command, {"train"}, Training::options());
  self.only(command, {"train"},
            {"--model", "--train", "--dev", "--test", "--minutes", "--epochs", "--words", "--width",
             "--layers", "--dropout", "--smoothing", "--batch", "--lr", "--average"});
  self.only(command, {"convert"}, {"--n-best", "--alignment"});
  self.only(command, {"convert", "evaluate"}, {"--ensemble"});
  self.only(command, {"train", "evaluate"}, {"--skip-bad"});
  if (command == "convert" && !options.alignment) self.only_read();
}

}  // namespace

int main(int argc, char** argv) {
  Program self(
      "g2p",
      "Learns how words are said from a list of them, and says others: g2p train, g2p convert WORD..., g2p "
      "evaluate FILE. By default it trains a small model on 20000 words of CMUdict in about two minutes; "
      "--minutes 10 or more, --epochs, --width, --words and --train take the larger one and all words. The "
      "model goes into --out, by default out/g2p.");
  self.out = "out/g2p";
  Training training(self, 500);
  Options options;
  self.arguments("command", options.arguments,
                 "train (the default); convert and words, or lines on standard input; evaluate and a file");
  self.choice("--model", options.model, {"gru", "transformer"}, "train: what to train");
  self.option(
      "--train", options.train,
      "train: learn from this file instead: a word, a tab, its phones with spaces between them on each line");
  self.option("--dev", options.dev,
              "train: words to choose the best model by (default: a fortieth of --train)");
  self.option("--test", options.test, "train: words to test with at the end, and never before");
  self.flag("--skip-bad", options.skip_bad,
            "Pass over the lines of files that cannot be used, and count them");
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
  self.option("--n-best", options.n_best, "convert: so many pronunciations of each word, with their scores");
  self.flag("--alignment", options.alignment,
            "convert: which letters each phone was made from, as text, picture and page");
  self.require([&] { check_command(self, options); });
  return self.run(argc, argv, [&] {
    const std::string& command = options.arguments[0];
    if (command == "train") return train(self, training, options);
    self.expect_no_pictures();
    command == "convert" ? convert(self, options) : evaluate(self, options);
  });
}
