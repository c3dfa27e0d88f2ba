#include "examples/g2p/learning.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <ostream>

#include "examples/g2p/converter.h"
#include "nn/optim/adaptive.h"
#include "nn/optim/averaged_model.h"
#include "nn/text/batch.h"
#include "tensor/create.h"

using namespace heed;

namespace program {
namespace {

constexpr double kEnoughEpochs = 3;      // to say most of the words nearly right
constexpr double kMinutesOfLarger = 10;  // from which on the larger model is the default

// The words of a training.
struct WordData {
  std::vector<Entry> train, dev, test;
  std::vector<Tokens> sources, targets;  // of train, a pair for each pronunciation
  int64_t all_test = 0;                  // words of the file that test was sampled from
};

WordData read_words(Program& self, G2pOptions& options) {
  const std::string folder = HEED_SOURCE_DIR "/examples/g2p/cmudict/";
  const bool own = !options.train.empty();
  check(own || (options.dev.empty() && options.test.empty()),
        "--dev and --test go with --train; give that, too");
  int64_t skipped = 0;
  const auto read = [&](const std::string& path, const char* otherwise) {
    if (path.empty() && own) return std::vector<Entry>();
    return read_lexicon(path.empty() ? folder + otherwise : path, options.skip_bad, &skipped);
  };
  WordData data{read(options.train, "train.tsv"),
                read(options.dev, "dev.tsv"),
                read(options.test, "test.tsv"),
                {},
                {},
                0};
  report_skipped(self, skipped);

  // Words are taken from all over the file, for a part of them and for --dev without a file.
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
    options.words = 0;  // all words are used
  data.all_test = std::ssize(data.test);
  data.test = sampled(std::move(data.test), options.test_words);
  for (const Entry& entry : data.train)
    for (const Tokens& sound : entry.sounds) {
      data.sources.push_back(entry.letters);
      data.targets.push_back(sound);
    }
  return data;
}

// Sets the defaults that depend on other options. Returns whether the model is the small one. Throws if an
// option is out of range.
bool set_defaults(const Program& self, G2pOptions& options) {
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
  return small;
}

// A model with its optimizer and batches. The training is that of the program, or one that is thrown away.
class WordLearner {
 public:
  WordLearner(const G2pOptions& options, const WordData& data, uint64_t seed, TrainingOptions settings)
      : translation(model_options(options), Vocabulary(data.sources), Vocabulary(data.targets)),
        optimizer(translation.module().parameters(), {.lr = options.lr}),
        averaged(translation.module()),
        batches(lengths(data), options.batch, Generator(seed, 1)),
        training(translation.module(), optimizer, std::move(settings)),
        data_(data),
        smoothing_(options.smoothing) {}

  StepRecord step() {
    return descend(training, translation, data_.sources, data_.targets, batches.next(),
                   {.label_smoothing = smoothing_});
  }

  Translation translation;
  Adam optimizer;
  AveragedModel averaged;
  BatchStream batches;
  Training training;

 private:
  static TranslatorOptions model_options(const G2pOptions& options) {
    return {.model = options.model == "gru" ? "fed" : "transformer",
            .attention = "additive",
            .embedding = options.width,
            .width = options.width,
            .layers = options.layers,
            .dropout = options.dropout,
            .layer_dropout = options.dropout};
  }
  // Words of equal length come together, those with equally many phones next to each other.
  static std::vector<int64_t> lengths(const WordData& data) {
    std::vector<int64_t> all;
    for (size_t i = 0; i < data.sources.size(); ++i)
      all.push_back(std::ssize(data.sources[i]) * (kLongestWord + 1) + std::ssize(data.targets[i]));
    return all;
  }

  const WordData& data_;
  double smoothing_;
};

void draw_word_errors(Program& self, const std::vector<double>& errors) {
  std::string rows = "epoch,word_errors\n";
  for (size_t i = 0; i < errors.size(); ++i)
    rows += std::to_string(i + 1) + "," + short_number(100 * errors[i]) + "\n";
  self.write("word_errors.csv", rows);
  self.plot("word_errors",
            "set datafile separator ','\nset title 'Words to choose by that are wrong, greedily'\n"
            "set xlabel 'epoch'\nset ylabel '%'\nset xrange [0:*]\nset yrange [0:*]\nunset key\n"
            "plot 'word_errors.csv' skip 1 using 1:2 with linespoints lw 2 pt 7\n");
}

// Describes the data for --resume: their number, and a text that depends on all of them.
std::string describe_words(const WordData& data) {
  std::vector<std::string> words;
  for (const auto* entries : {&data.train, &data.dev})
    for (const Entry& entry : *entries) {
      words.push_back(entry.word);
      for (const Tokens& sound : entry.sounds) words.push_back(spaced(sound));
    }
  return std::to_string(data.sources.size()) + ", " + fingerprint(words);
}

// Loads the parameters with the fewest errors on the words to choose by: those after one epoch, or the mean
// of the last epochs. Returns a description of them.
std::string load_best(WordLearner& learner, const std::string& best_file, const std::vector<double>& errors,
                      const std::function<double(const Translation&)>& dev_errors) {
  Checkpoint& state = learner.training.checkpoint();
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
  state.load(best_file);
  return after;
}

}  // namespace

void train_g2p(Program& self, Trainings& trainings, G2pOptions& options) {
  const bool small = set_defaults(self, options);
  const WordData data = read_words(self, options);
  trainings.connect();
  manual_seed(self.seed);
  const auto batch_count = (std::ssize(data.sources) + options.batch - 1) / options.batch;
  WordLearner learner(options, data, self.seed,
                      trainings.with({.max_norm = 1, .validate_every = batch_count}, true));
  Training& training = learner.training;
  std::ostream& text = self.text();
  text << data.train.size() << " words with " << data.sources.size() << " pronunciations to learn from, "
       << data.dev.size() << " to choose by" << (options.words > 0 ? ": a part of them (--words)" : "")
       << "\n"
       << options.model << ": " << learner.translation.module().parameter_count() << " parameters, "
       << options.width << " wide\n"
       << std::flush;

  std::vector<double> errors;  // of the words to choose by, after each epoch
  // Word errors. Between models with equal word errors, phone errors decide.
  const auto dev_errors = [&data](const Translation& model) {
    const PhoneScore score = measure({&model, 1}, data.dev, 1).score;
    return score.word_errors() + 1e-9 * score.phone_errors();
  };
  Plan plan(training, learner.optimizer, 1000);
  Checkpoint& state = training.checkpoint();
  state.add("averaged", learner.averaged);
  state.add("batches", learner.batches);
  state.add("errors", errors);
  trainings.expect(training, {"--model", "--width", "--layers", "--batch", "--epochs", "--minutes",
                              "--average", "--lr", "--dropout", "--smoothing", "--seed"});
  state.expect("words", describe_words(data));
  plan.begin([&] {
    if (options.epochs > 0) return options.epochs * batch_count;
    std::optional<WordLearner> trial;
    const int64_t count = steps_in(
        60 * options.minutes,
        [&] {
          if (!trial)
            trial.emplace(options, data, self.seed,
                          TrainingOptions{.max_norm = 1, .processes = trainings.processes()});
          trial->step();
        },
        trainings.processes());
    // Converting a word takes about half the time of learning one.
    const int64_t learned = 2 * std::ssize(data.sources), all = learned + std::ssize(data.dev);
    return std::max<int64_t>(1, count * learned / all);
  });
  const int64_t steps = plan.steps, ends = (steps + batch_count - 1) / batch_count;  // of epochs
  const double epochs = static_cast<double>(steps) / static_cast<double>(batch_count);
  const std::string advice = training_advice(options, small, epochs);
  const int64_t averaged = options.average > 0 ? options.average : std::max<int64_t>(2, ends / 5);
  text << steps << (steps == 1 ? " step of " : " steps of ") << options.batch << ", " << short_number(epochs)
       << (epochs == 1 ? " epoch" : " epochs") << (advice.empty() ? "" : ": too few to learn much; " + advice)
       << "\n"
       << std::flush;

  const auto step = [&] {
    const StepRecord record = learner.step();
    plan.schedule.step();
    return record;
  };
  const auto validate = [&] {
    if (std::ssize(errors) >= ends - averaged)
      learner.averaged.update_parameters(learner.translation.module());
    errors.push_back(dev_errors(learner.translation));
    training.print("epoch " + std::to_string(errors.size()) + ": loss " + short_number(training.last().loss) +
                   ", " + percent(errors.back()) + " of the words to choose by wrong");
    return errors.back();
  };
  trainings.run(training, steps, step, validate);
  draw_word_errors(self, errors);
  self.result("dev_word_errors", from_vector(errors, {std::ssize(errors)}));
  text << "kept: " << load_best(learner, trainings.best_file(), errors, dev_errors) << "\n";
  trainings.keep_earlier(g2p_model_file(self));
  learner.translation.save(g2p_model_file(self));
  remove_pictures(self);

  self.result("model", options.model);
  self.result("parameters", learner.translation.module().parameter_count());
  self.result("steps", steps);
  self.result("epochs", epochs);
  self.below = "dev.";
  const Measured dev = measure({&learner.translation, 1}, data.dev, options.beams);
  report(self, learner.translation, "words to choose by", data.dev, dev, "dev_answers.tsv");
  if (!data.test.empty()) {
    self.below = "test.";
    const Measured test = measure({&learner.translation, 1}, data.test, options.beams);
    const std::string what = of_all("words to test", data.test, data.all_test);
    report(self, learner.translation, what, data.test, test, "test_answers.tsv");
  }
  self.below = "";
  if (!advice.empty())
    text << "\nThis training was too short, and " << percent(dev.score.word_errors())
         << " of the words are wrong: " << advice << ".\n";
  text << "\n"
       << g2p_model_file(self) << ": g2p convert WORD uses it"
       << (self.out == "out/g2p" ? "" : " (with this --out)")
       << (options.train.empty() && options.words > 0
               ? "; g2p train --minutes 55 makes a larger one from all words\n"
               : "\n");
}

std::string training_advice(const G2pOptions& options, bool small, double epochs) {
  if (epochs >= kEnoughEpochs) return "";
  if (options.minutes == 0) return "--epochs " + short_number(kEnoughEpochs) + " would do";
  const double minutes = std::ceil(options.minutes * kEnoughEpochs / epochs);
  const bool needs_sizes = small && minutes >= kMinutesOfLarger;
  return "--minutes " + short_number(minutes) +
         (needs_sizes ? detail::text(" --words ", options.words, " --width ", options.width) : "") +
         " would do";
}

std::string g2p_model_file(const Program& self) { return self.out + "/g2p.safetensors"; }

void report_skipped(Program& self, int64_t lines) {
  if (lines > 0) self.text() << lines << " lines were skipped\n";
  self.result("skipped", lines);
}

}  // namespace program
