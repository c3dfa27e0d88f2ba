// A language model: a transformer that learns which token comes next in a text, and continues it.
//
//   language_model train    learns from a file of UTF-8 (--text), by default from heed's own sources
//   language_model write    continues --prompt with the model of the last training
//   language_model export   writes that model into an ONNX file, for Python and others
//
// A part of the text is held out. The bits that the model needs for each byte of it are compared with those
// of counts of five tokens in a row, and with xz. The last tokens to learn from are kept to choose by.

#include <heed.h>
#include <heed/files.h>
#include <heed/text.h>
#include <heed/view.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <ostream>

#include "examples/language_model/counting.h"
#include "examples/language_model/language.h"
#include "examples/language_model/ngram.h"
#include "examples/language_model/texts.h"
#include "examples/shared/training.h"

using namespace heed;
using namespace program;
namespace fs = std::filesystem;

namespace {

constexpr const char* kAnew = "language_model train";

struct Options {
  std::vector<std::string> arguments;  // the command
  std::string text, tokens = TextTokens::kBytePairs, model, prompt;
  LanguageOptions net;
  SampleOptions sample{.temperature = 0.8, .top_k = 0, .top_p = 0.95};
  int64_t vocabulary = 0, batch = 8, steps = 0, length = 300;
  double minutes = 0, lr = 4e-3;
  bool no_cache = false;
};

bool larger(const Options& options) { return options.minutes >= kMinutesOfLarger; }

// Fills in what the options leave open, and refuses what cannot be.
void settle(const Program& self, Options& options) {
  const auto unless_given = [&](const char* name, auto& value, auto larger) {
    if (!self.given(name)) value = larger;
  };
  if (larger(options)) {
    unless_given("--width", options.net.width, 256);
    unless_given("--layers", options.net.layers, 6);
    unless_given("--context", options.net.context, 256);
    unless_given("--dropout", options.net.dropout, 0.1);
    unless_given("--lr", options.lr, 1e-3);
  }
  const bool pairs = options.tokens == TextTokens::kBytePairs;
  const int64_t least = pairs ? BytePairs::bytes : 2, most = Ngram::kMostIds;
  if (options.vocabulary == 0) options.vocabulary = pairs ? 1024 : most;
  check(options.vocabulary >= least && options.vocabulary <= most, "--vocabulary is ", options.vocabulary,
        "; of ", options.tokens, " it must be from ", least, " to ", most);
  options.net.check();
  check_range("--batch", options.batch, 1, 4096);
  Plan::check(options.lr, options.minutes, "--steps", options.steps);
  if (options.steps == 0 && options.minutes == 0) options.minutes = 1.7;
}

void check_writing(const Options& options) {
  const auto& [temperature, top_k, top_p] = options.sample;
  check(temperature >= 0 && std::isfinite(temperature), "--temperature is ", temperature,
        "; it must be a number from 0");
  check(top_k >= 0, "--top-k is ", top_k, "; it must be from 1, or 0 for all");
  check(top_p > 0 && top_p <= 1, "--top-p is ", top_p, "; it must be above 0, and at most 1");
  check_range("--length", options.length, 1, 1000000);
  check_utf8("--prompt", options.prompt);
}

// ---- writing ----

// What the model writes after the prompt; `show` is called with each part of the text when it is there.
std::string written(Writer& writer, const Language& language, const Options& options, uint64_t seed,
                    const std::function<void(const std::string&)>& show) {
  Utf8Stream stream;
  std::string text;
  const auto add = [&](const std::string& part) {
    text += part;
    if (!part.empty()) show(part);
  };
  add(stream.add(options.prompt));
  Generator generator(seed, 3);
  for (int64_t i = 0; i < options.length; ++i)
    add(stream.add(language.tokens().token(writer.next(generator, options.sample))));
  add(stream.end());
  return text;
}

bool knows(const TextTokens& tokens, std::string_view character) {
  return tokens.unknown_bits(tokens.encode(character)) == 0;
}

Ids prompt_ids(const Language& language, const Options& options) {
  const TextTokens& tokens = language.tokens();
  Tokens unknown;
  for (const std::string& character : split_characters(options.prompt, true))
    if (!knows(tokens, character) && std::ranges::find(unknown, printable(character)) == unknown.end())
      unknown.push_back(printable(character));
  check(unknown.empty(), "--prompt: the model has never seen ", detail::listed(unknown), "; it knows the ",
        tokens.size() - 1, " characters of its training alone");
  return tokens.encode(options.prompt);
}

// Without --prompt, or with an empty one, it begins with a line feed, or, where the text has none, with the
// most frequent character.
void settle_prompt(const Program& self, const TextTokens& tokens, Options& options) {
  if (self.given("--prompt") && !options.prompt.empty()) return;
  options.prompt = knows(tokens, "\n") ? "\n" : tokens.token(1);
}

// Prints what the model writes, as it comes, and leaves a page of what it attended to.
void write(Program& self, const Language& language, const Options& options) {
  Writer writer(language, prompt_ids(language, options), !options.no_cache, self.draws());
  const std::string text = written(writer, language, options, self.seed,
                                   [&](const std::string& part) { self.text() << part << std::flush; });
  self.text() << "\n";
  self.result("text", text);
  if (self.draws())
    self.write_picture("attention.html",
                       attention_page(writer.attention(), {.title = "What was attended to while writing"}));
}

// ---- training ----

// A model with its optimizer. The training is that of the program, or one that is thrown away.
class Learner {
 public:
  Learner(const TextTokens& tokens, const Tensor& text, const Options& options, uint64_t seed,
          TrainingOptions settings)
      : language(tokens, options.net),
        optimizer(language.net().parameters(), {.lr = options.lr, .betas = {0.9, 0.95}, .weight_decay = 0.1}),
        places(seed, 1),
        training(language.net(), optimizer, std::move(settings)),
        text_(text),
        batch_(options.batch) {}

  // One step on windows at random places.
  StepRecord step() {
    const int64_t context = language.options().context;
    std::vector<Tensor> windows;
    for (int64_t b = 0; b < batch_; ++b)
      windows.push_back(narrow(text_, 0, places.integer(0, text_.size(0) - context), context + 1));
    const auto loss = [&](int64_t from, int64_t to) {
      const std::vector<Tensor> part(windows.begin() + from, windows.begin() + to);
      return ShardLoss{language.loss(stack(part, 0)), to - from};
    };
    return training.descend(batch_, loss, batch_ * context);
  }

  Language language;
  AdamW optimizer;
  Generator places;  // where the next windows begin
  Training training;

 private:
  Tensor text_;  // [N] int64
  int64_t batch_;
};

std::string model_file(const Program& self) { return self.out + "/language_model.safetensors"; }

// The bits per byte that xz comes to; NaN where it is not installed, or fails.
double of_xz(Program& self, size_t bytes) {
  try {
    if (!run_tool(self.out, {"xz", "-9", "--keep", "--force", "held_out.txt"})) return NAN;
  } catch (const Error& error) {
    self.text() << error.what() << "\n";
    return NAN;
  }
  const auto size = static_cast<double>(fs::file_size(self.out + "/held_out.txt.xz"));
  self.remove("held_out.txt.xz");
  return 8 * size / static_cast<double>(bytes);
}

// Compares the model with others.
BitsPerByte compare(Program& self, const Language& language, const HeldOutText& texts, const Ids& learned,
                    const Ids& held_out) {
  const auto bytes = static_cast<double>(texts.held_out.size()), count = static_cast<double>(held_out.size());
  const double unknown = language.tokens().unknown_bits(held_out), bits = language.bits(held_out);
  Table table({"", "bits per byte"});
  const auto row = [&](const std::string& what, const std::string& name, double per_byte) {
    table.add({what, short_number(per_byte)});
    self.result(name, per_byte);
    return per_byte;
  };
  const auto of_ngram = [&](int64_t order) {
    return (Ngram(learned, language.tokens().size(), order).bits(held_out) + unknown) / bytes;
  };
  row("every token alike", "uniform", (count * std::log2(language.tokens().size()) + unknown) / bytes);
  const double unigram = row("how often each is there", "unigram", of_ngram(1)),
               five_gram = row("5-gram with back-off (Kneser-Ney)", "five_gram", of_ngram(5));
  if (const double xz = of_xz(self, texts.held_out.size()); !std::isnan(xz)) row("xz -9", "xz", xz);
  row("this model", "bits_per_byte", bits / bytes);
  const double perplexity = std::exp2(bits / count);
  self.result("perplexity", perplexity);
  self.text() << "\nthe " << texts.held_out.size() << " bytes held out (held_out.txt): perplexity "
              << short_number(perplexity) << " per token\n\n"
              << table.to_string() << "\n";
  return {unigram, five_gram, bits / bytes};
}

void train(Program& self, Trainings& trainings, Options& options) {
  settle(self, options);
  const HeldOutText texts = read_held_out_text(options.text);
  check(!texts.held_out.empty(), texts.description, ": there is no text to hold out; give a longer one");
  trainings.connect();
  manual_seed(self.seed);
  if (texts.learned.size() > 100'000'000)  // takes longer than a few seconds
    self.text() << "learning " << options.tokens << " from " << texts.learned.size() << " bytes\n"
                << std::flush;
  const TextTokens tokens(options.tokens, texts.learned, options.vocabulary);
  Ids learned = encode_long(tokens, texts.learned);
  const Ids held_out = tokens.encode(texts.held_out);
  check(std::ssize(learned) > options.net.context + 2 && held_out.size() > 1, texts.description, ": has ",
        learned.size(), " tokens to learn from and ", held_out.size(), " held out; --context ",
        options.net.context, " needs ", options.net.context + 3,
        " and 2; give a longer text or a smaller --context");
  const auto last = std::clamp<int64_t>((std::ssize(learned) - options.net.context) / 20, 2, 8192);
  const Ids chosen_by(learned.end() - last, learned.end());  // what the best model is chosen by
  learned.resize(learned.size() - chosen_by.size());
  const Tensor text_ids = from_vector(learned, {std::ssize(learned)});
  Learner learner(tokens, text_ids, options, self.seed, trainings.with({.max_norm = 1}, true));
  Training& training = learner.training;
  const Language& language = learner.language;
  settle_prompt(self, tokens, options);
  const Ids prompt = prompt_ids(language, options);
  std::ostream& text = self.text();
  text << texts.description << ":\n"
       << texts.learned.size() << " bytes to learn from, " << learned.size() << " tokens of " << tokens.size()
       << " different " << options.tokens << ", and " << last << " to choose by\n"
       << "a transformer of " << language.net().parameter_count() << " parameters: " << options.net.layers
       << " layers, " << options.net.width << " wide, " << options.net.heads << " heads, that sees "
       << options.net.context << " tokens\n"
       << std::flush;

  Plan plan(training, learner.optimizer, 200);
  Checkpoint& state = training.checkpoint();
  state.add("places", learner.places);
  trainings.expect(training, {"--tokens", "--vocabulary", "--width", "--layers", "--heads", "--context",
                              "--batch", "--steps", "--minutes", "--lr", "--dropout", "--seed"});
  state.expect("text",
               std::to_string(texts.learned.size()) + ", " + fingerprint({texts.learned, texts.held_out}));
  plan.begin([&] {
    if (options.steps > 0) return options.steps;
    std::optional<Learner> trial;
    return steps_in(
        60 * options.minutes,
        [&] {
          if (!trial)
            trial.emplace(tokens, text_ids, options, self.seed,
                          TrainingOptions{.max_norm = 1, .processes = trainings.processes()});
          trial->step();
        },
        trainings.processes());
  });
  self.write("held_out.txt", texts.held_out);
  const int64_t steps = plan.steps;
  text << steps << (steps == 1 ? " step of " : " steps of ") << options.batch << " windows, each token seen "
       << short_number(static_cast<double>(steps * options.batch * options.net.context) /
                       static_cast<double>(learned.size()))
       << " times";
  if (options.steps == 0) {
    text << "; to repeat exactly this run: --steps " << steps;
    if (larger(options))
      for (const char* name : {"--width", "--layers", "--context", "--dropout", "--lr"})
        text << " " << name << " " << self.value(name);
  }
  text << "\n";
  if (constexpr int64_t kFewTokens = 20000; std::ssize(learned) < kFewTokens)
    text << "the text is short: with " << learned.size()
         << " tokens to learn from, a model soon memorizes them. " << kFewTokens << " or more are better\n";
  text << std::flush;

  const auto step = [&] {
    const StepRecord record = learner.step();
    plan.schedule.step();
    return record;
  };
  const auto validate = [&] {
    const double validation =
        std::log(2.0) * language.bits(chosen_by) / static_cast<double>(chosen_by.size());
    if (self.terminal()) {
      Writer writer(language, prompt);
      Options sample = options;
      sample.length = std::min<int64_t>(80, options.length);
      training.print("-- after " + std::to_string(training.step()) + " steps, loss " +
                     short_number(training.last().loss) + ", of what is to choose by " +
                     short_number(validation) + "\n" +
                     written(writer, language, sample, self.seed, [](const std::string&) {}));
    }
    return validation;
  };
  trainings.run(training, steps, step, validate);
  state.load(trainings.best_file());
  trainings.keep_earlier(model_file(self));
  language.save(model_file(self));

  self.result("steps", steps);
  self.result("parameters", language.net().parameter_count());
  self.result("tokens", tokens.size());
  text << counting_advice(compare(self, language, texts, learned, held_out),
                          {.steps = steps,
                           .minutes = options.minutes,
                           .larger = larger(options),
                           .own_text = !options.text.empty()});
  text << "\n-- what it writes\n" << std::flush;
  write(self, language, options);
  text << "\n"
       << model_file(self) << ": language_model write --prompt \"...\" continues any beginning"
       << (self.out == "out/language_model" ? "" : " (with this --out)")
       << (larger(options) || !options.text.empty()
               ? "\n"
               : "; language_model train --minutes 60 makes a larger one\n");
}

}  // namespace

int main(int argc, char** argv) {
  Program self("language_model",
               "Learns to write from a text in about two minutes, and continues any beginning. Leaves the "
               "model, its losses and a page of what it attends to in --out, by default out/language_model. "
               "language_model export --onnx FILE writes the model for Python and others.");
  self.out = "out/language_model";
  Trainings trainings(self, 200, true);
  Options options;
  const OnnxFiles onnx(self, options.arguments);
  self.arguments("COMMAND", options.arguments,
                 "train (without a word, too), or write or export: with the model of the last training");
  self.option("--text", options.text, "Learn from this file of UTF-8 instead of heed's sources");
  self.choice("--tokens", options.tokens, TextTokens::kinds(), "What the text is made of");
  self.option("--vocabulary", options.vocabulary,
              "Different tokens at most; 0: 1024 byte pairs, or 4096 characters");
  self.option("--width", options.net.width, "Numbers for each token in the model");
  self.option("--layers", options.net.layers, "Layers");
  self.option("--heads", options.net.heads, "Heads of each attention");
  self.option("--context", options.net.context, "Tokens that the model sees");
  self.option("--dropout", options.net.dropout, "Share of activations left out in training");
  self.option("--lr", options.lr, "Largest learning rate");
  self.option("--batch", options.batch, "Windows of the text in a step");
  self.option("--steps", options.steps, "Steps of training, instead of --minutes");
  self.option(
      "--minutes", options.minutes,
      "How long to train (default: 1.7); from 10 on by default a larger model: --width 256 --layers 6 "
      "--context 256 --dropout 0.1 --lr 0.001");
  self.option("--model", options.model, "write, export: the file of the model, instead of the one in --out");
  self.option("--prompt", options.prompt, "What to write on from (default: an empty line)", "");
  self.option("--length", options.length, "Tokens to write");
  self.option("--temperature", options.sample.temperature,
              "Below 1 the probable becomes more so; 0 takes the most probable");
  self.option("--top-k", options.sample.top_k, "Only so many of the most probable tokens; 0: all");
  self.option("--top-p", options.sample.top_p, "Of these only the first that have this probability together");
  self.flag("--no-cache", options.no_cache, "Compute all again for each token: slower, and the same text");
  return self.run(argc, argv, [&] {
    const std::string command = options.arguments.empty() ? "train" : options.arguments[0];
    check(options.arguments.size() < 2 && (command == "train" || command == "write" || onnx.asked()),
          "the command is \"", options.arguments.empty() ? "" : printable(options.arguments.back()),
          "\"; it is one of train, write and export");
    check_writing(options);
    check(command != "train" || options.model.empty(),
          "--model is for writing; train leaves its model in --out");
    if (command == "train") return train(self, trainings, options);
    if (onnx.asked())
      self.refuse({"--prompt", "--length", "--temperature", "--top-k", "--top-p", "--no-cache"},
                  "is for writing");
    const std::string why = "is for training; " + command + " asks the model that the last training saved";
    self.refuse(Trainings::options(true), why);
    self.refuse({"--text", "--tokens", "--vocabulary", "--width", "--layers", "--heads", "--context",
                 "--dropout", "--lr", "--batch", "--steps", "--minutes"},
                why);
    const std::string file = options.model.empty() ? model_file(self) : options.model;
    check(fs::exists(file), file, ": there is no model yet; ", kAnew, " makes one");
    const Language language = Language::load(file, kAnew);
    if (onnx.asked()) return language.write_onnx(onnx);
    settle_prompt(self, language.tokens(), options);
    write(self, language, options);
  });
}
