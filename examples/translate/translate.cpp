// Chinese to English, from a toy corpus to a model that translates sentences it has never seen.
//
//   rnn          a recurrent encoder hands one vector c to a recurrent decoder: the bottleneck
//   attention    the decoder looks back at every encoder state: c_i = sum_j a_ij h_j
//   transformer  attention everywhere, and nothing recurrent
//
// The corpus comes from a small grammar in which the two languages order their words differently, so that a
// translation is no copying from left to right. Test sentences are new combinations of known words.

#include <heed.h>
#include <heed/files.h>
#include <heed/text.h>
#include <heed/training.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <ostream>

#include "examples/shared/loss_picture.h"
#include "examples/shared/training.h"
#include "examples/translate/alignment.h"
#include "examples/translate/by_length.h"
#include "examples/translate/grammar.h"
#include "examples/translate/translation.h"

using namespace heed;
using namespace program;

namespace {

const std::string kShown = "我爱中国";

struct Options {
  std::vector<std::string> arguments;  // the command
  std::string model = "attention", attention, pairs, text;
  bool skip_bad = false;
  int64_t steps = 0, batch = 64, beams = 1;
  double lr = 3e-3;
};

// Fills in the defaults that depend on the model, and refuses options that contradict each other.
void settle(Options& options) {
  check(!options.skip_bad || !options.pairs.empty(), "--skip-bad is for a file of --pairs; give one");
  if (options.attention == "none") {
    check(options.model != "transformer",
          "--attention none: a transformer is nothing without; take --model rnn");
    options.model = "rnn";
  }
  if (options.model != "attention") {
    check(options.attention.empty() || options.attention == "none",
          "--attention chooses the score of --model attention; --model ", options.model,
          options.model == "rnn" ? " has none" : " has scaled dot products of its own");
    options.attention = "none";
  } else if (options.attention.empty()) {
    options.attention = "additive";
  }
  if (options.steps == 0) options.steps = options.model == "transformer" ? 800 : 1300;
  check(options.lr > 0, "--lr is ", options.lr, "; it must be above 0");
  check_range("--steps", options.steps, 1, 1000000000);
  check_range("--batch", options.batch, 1, 100000);
  check_range("--beams", options.beams, 1, 1000);
}

// Describes the data for --resume: their number, and a text that depends on all of them.
std::string describe(const std::vector<Pair>& pairs) {
  std::vector<std::string> texts;
  for (const Pair& pair : pairs) texts.insert(texts.end(), {pair.source, pair.target});
  return std::to_string(pairs.size()) + ", " + fingerprint(texts);
}

// Teacher forcing with Adam. The rate warms up, then falls to 0. Returns the mean losses of tenths of the
// training.
std::vector<double> train(Trainings& trainings, const std::string& name, const Translation& translation,
                          const Split& parts, const Options& options, uint64_t seed) {
  std::vector<int64_t> lengths;
  std::vector<Tokens> sources, targets;
  for (const Pair& pair : parts.train) {
    sources.push_back(tokenise(pair.source));
    targets.push_back(tokenise(pair.target));
    lengths.push_back(std::ssize(sources.back()));
  }
  Adam optimizer(translation.module().parameters(), {.lr = options.lr});
  LambdaLR schedule(optimizer, [steps = options.steps](int64_t t) {
    return warm_and_fall(t, steps, 0.08 * static_cast<double>(steps));
  });
  BatchStream batches(lengths, options.batch, Generator(seed, 1));
  const std::vector<Pair> unseen(parts.test.begin(),
                                 parts.test.begin() + std::min<int64_t>(256, std::ssize(parts.test)));
  std::vector<double> losses;
  double sum = 0, summed = 0;

  Training training(translation.module(), optimizer, trainings.with({.max_norm = 1, .name = name}));
  Checkpoint& state = training.checkpoint();
  state.add("schedule", schedule);
  state.add("batches", batches);
  state.add("losses", losses);
  state.add("sum", sum);
  state.add("summed", summed);
  state.expect("--model", options.model);
  state.expect("--attention", options.attention);
  trainings.expect(training, {"--steps", "--batch", "--lr", "--seed"});
  state.expect("pairs to learn from", describe(parts.train));
  const auto step = [&] {
    const StepRecord record = descend(training, translation, sources, targets, batches.next());
    schedule.step();
    sum += record.loss;
    ++summed;
    return record;
  };
  const auto validate = [&] {
    losses.push_back(std::exchange(sum, 0) / std::exchange(summed, 0));
    return unseen.empty() ? NAN : translation.loss(unseen).item();
  };
  trainings.run(training, options.steps, step, validate);
  return losses;
}

// The model's formula, the task, and what to look for.
void explain(Program& self, const Options& options) {
  std::ostream& text = self.text();
  if (options.model == "rnn")
    text << "c = the encoder's last states: one vector for the whole sentence, whatever its length";
  else if (options.model == "attention")
    text << "cᵢ = Σⱼ aᵢⱼ hⱼ    aᵢⱼ = softmax over j of score(sᵢ, hⱼ), with the decoder's state sᵢ and the "
            "encoder's states hⱼ";
  else
    text << "softmax(Q Kᵀ / √d) V, several heads at once: among the source's words, among the target's so "
            "far, and from "
            "these to those";
  text << "\n\nThe task: "
       << (options.pairs.empty()
               ? "Chinese sentences of a small grammar and their English, whose words come in another order"
               : "sentences and their translations from " + options.pairs)
       << ".\nSome are kept for the test and never trained on, if all their words occur elsewhere. An answer "
          "counts when every word of it is "
          "right.\n"
          "What to look for: how exact the longest third is, compared with the shortest"
       << (options.model == "rnn" ? "; one vector has to hold more and more"
                                  : ", and what each word was made from")
       << ".\n\n";
}

std::string model_file(const Program& self) { return self.out + "/translate.safetensors"; }

// The results of a training.
struct Learned {
  std::string model;
  int64_t parameters;
  double exact, bleu, seconds;
  Lengths lengths;
  bool unseen;  // whether the test has sentences that the model has not learned from
};

Learned learn(Program& self, Trainings& trainings, const Options& options, const std::string& name = "") {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  manual_seed(self.seed);
  Generator random(self.seed);
  int64_t skipped = 0;
  const auto pairs =
      options.pairs.empty() ? generate_corpus(random) : read_pairs(options.pairs, options.skip_bad, &skipped);
  if (skipped > 0) self.text() << skipped << " lines of " << options.pairs << " were skipped\n";
  self.result("skipped", skipped);
  explain(self, options);
  Split parts = split(pairs, self.seed);
  const Translation translation(options.model, options.attention, parts.train);
  std::ostream& text = self.text();
  text << parts.train.size() << " pairs to learn from; " << translation.options().source_words << " and "
       << translation.options().target_words << " different words\n"
       << options.model
       << (translation.attends() && options.model == "attention" ? " (" + options.attention + ")" : "")
       << ": " << translation.module().parameter_count() << " parameters, " << options.steps << " steps of "
       << options.batch << " pairs\n"
       << std::flush;
  const std::vector<double> losses = train(trainings, name, translation, parts, options, self.seed);
  const bool unseen = !parts.test.empty();
  if (!unseen) parts.test = parts.train;
  text << "loss:";
  for (const double loss : losses) text << " " << short_number(loss);

  std::vector<Tokens> sources, references;
  for (const Pair& pair : parts.test) {
    sources.push_back(tokenise(pair.source));
    references.push_back(tokenise(pair.target));
  }
  const std::vector<Tokens> translations = translation.translate(sources, options.beams);
  const double exact = exact_match(translations, references), score = bleu(translations, references).score;
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  text << "\n\n"
       << parts.test.size()
       << (unseen ? " unseen sentences"
                  : " sentences of the training (each has a rare word, so none was left out)")
       << ": exact match " << short_number(exact) << ", BLEU " << short_number(score) << ", after "
       << short_number(seconds) << " s\n";
  if (std::ranges::all_of(references, [](const Tokens& words) { return words.size() < 4; }))
    text << "(BLEU counts runs of four words, and no translation has so many: it is 0 whatever the model "
            "does)\n";
  self.result("model", options.model);
  self.result("tested_on", std::string(unseen ? "unseen sentences" : "training sentences"));
  self.result("exact_match", exact);
  self.result("bleu", score);
  self.result("seconds", seconds);
  self.result("loss", losses.back());
  const Lengths lengths = by_length(sources, translations, references);
  print_lengths(self, lengths);

  const auto wrong = [&](size_t i) { return translations[i] != references[i]; };
  // Samples: the well-known sentence if it is in the test, then the first ones of the test, then mistakes.
  std::vector<size_t> samples;
  const auto add = [&](const auto& wanted, size_t most) {
    for (size_t i = 0; i < sources.size() && samples.size() < most; ++i)
      if (std::find(samples.begin(), samples.end(), i) == samples.end() && wanted(i)) samples.push_back(i);
  };
  add([&](size_t i) { return parts.test[i].source == kShown; }, 1);
  add([&](size_t) { return true; }, 6);
  add(wrong, 10);
  Table table({"source", "translation", ""});
  for (const size_t i : samples)
    table.add(
        {parts.test[i].source, join(translations[i]), wrong(i) ? "should be: " + join(references[i]) : ""});
  const auto shown = std::count_if(samples.begin(), samples.end(), wrong);
  int64_t mistakes = 0;
  for (size_t i = 0; i < sources.size(); ++i) mistakes += wrong(i);
  text << "\n" << table.to_string() << "\n";
  if (shown == mistakes)
    text << all_mistakes_text(mistakes, std::ssize(sources)) << "\n";
  else
    text << "These are " << shown << " of " << mistakes << " mistakes in " << sources.size()
         << " sentences.\n";
  self.result("mistakes", mistakes);
  if (!unseen)
    text << "The model has learned from these sentences. How well it translates others is not known: it "
            "takes\n"
            "more pairs, so that some can be left out.\n";
  else
    text << "From the shortest third of the sentences to the longest the share of exact answers "
         << trend(lengths)
         << (options.model == "rnn" ? ": one vector holds them all.\n"
                                    : ": each word looks at the source for itself.\n");

  draw_lengths(self, {{options.model, &lengths}}, unseen);
  translation.save(model_file(self));
  remove_attention(self);
  const Learned learned{options.model, translation.module().parameter_count(), exact, score, seconds, lengths,
                        unseen};
  if (!translation.attends()) return learned;
  show_alignment(self, translation, sources[samples[0]], translations[samples[0]]);
  std::vector<Tokens> shown_sources, shown_translations;
  for (const size_t i : samples) {
    shown_sources.push_back(sources[i]);
    shown_translations.push_back(translations[i]);
  }
  draw_attention(self, translation, shown_sources, shown_translations);
  return learned;
}

// All models on the same data, each in a folder of its own, then side by side.
void compare(Program& self, Trainings& trainings, const Options& options) {
  const std::string folder = self.out;
  std::vector<Learned> all;
  std::vector<LossCurve> curves;
  for (const char* model : {"rnn", "attention", "transformer"}) {
    Options one = options;
    one.model = model;
    settle(one);
    self.out = folder + "/" + model;
    self.below = one.model + ".";
    self.text() << (all.empty() ? "" : "\n") << "-- " << model << "\n\n";
    all.push_back(learn(self, trainings, one, model));
    for (LossCurve& curve : read_log(trainings.log_file()))  // of --log, one file for all
      if (curve.name == model) curves.push_back(std::move(curve));
  }
  self.out = folder;
  self.below = "";

  Table table(
      {"model", "parameters", "exact match", "shortest third", "middle", "longest third", "BLEU", "seconds"});
  std::vector<std::pair<std::string, const Lengths*>> curves_by_length;
  for (const Learned& one : all) {
    std::vector<std::string> cells = {one.model, std::to_string(one.parameters), short_number(one.exact)};
    for (const Share& third : one.lengths.thirds) cells.push_back(short_number(third.value()));
    cells.push_back(short_number(one.bleu));
    cells.push_back(short_number(one.seconds));
    table.add(cells);
    curves_by_length.emplace_back(one.model, &one.lengths);
  }
  const auto lost = [&](size_t i) { return all[i].lengths.lost(); };
  self.text()
      << "\n-- all three\n\n"
      << table.to_string()
      << "\n\nFrom the shortest third of the sentences to the longest the share of exact answers\n"
      << trend(all[0].lengths) << " without attention, " << trend(all[1].lengths) << " with it, and "
      << trend(all[2].lengths) << " in the transformer"
      << (!all[0].unseen ? ".\nThe models have learned from these sentences.\n"
          : lost(0) > std::max({0.0, lost(1), lost(2)})
              ? ": one vector is a bottleneck for long sentences.\n"
              : "; after enough steps one vector is a bottleneck for long sentences, here it is not seen.\n");
  draw_lengths(self, curves_by_length, all[0].unseen);
  draw_losses(self, "loss", curves);
}

Translation load_last(const Program& self) {
  const std::string file = model_file(self);
  check(std::filesystem::exists(file), file, ": there is no model yet; translate without --text trains one");
  return Translation::load(file);
}

void answer(Program& self, const Options& options) {
  const Translation translation = load_last(self);
  const Tokens source = translation.source_tokens(options.text);
  const Tokens target = translation.translate({source}, options.beams)[0];
  self.text() << join(target) << "\n";
  self.result("text", options.text);
  self.result("translation", join(target));
  if (translation.attends()) show_alignment(self, translation, source, target);
}

}  // namespace

int main(int argc, char** argv) {
  Program self(
      "translate",
      "Learns to translate Chinese to English in about a minute, and shows what it attends to. Writes the "
      "model, pictures and a page of what it attends to into --out, by default out/translate; computes on "
      "one thread by default. translate export --onnx FILE writes the model for Python and others.");
  self.out = "out/translate";
  // Steps this small gain little from a second core, and lose much when it is busy with something else.
  self.default_threads = 1;
  Trainings trainings(self, 0, true);
  Options options;
  const OnnxFiles onnx(self, options.arguments);
  self.arguments(
      "COMMAND", options.arguments,
      "export: write the model of the last training into ONNX files; without it: train, or --text");
  std::vector<std::string> attentions = {"none"};
  attentions.insert(attentions.end(), score_names().begin(), score_names().end());
  self.choice("--model", options.model, {"rnn", "attention", "transformer"}, "What to train");
  bool comparing = false;
  self.flag("--compare", comparing,
            "Train without attention, with it, and a transformer, and put them side by side");
  self.choice("--attention", options.attention, attentions,
              "How the attention model scores (default: additive)");
  self.option("--text", options.text,
              "Translate this with the model of the last training; nothing is trained", "a sentence");
  self.option("--pairs", options.pairs,
              "Train on this file instead: a sentence, a tab, its translation on each line, of at most " +
                  std::to_string(kLongestSentence) + " words or characters each");
  self.flag("--skip-bad", options.skip_bad, "Skip the lines of --pairs that cannot be used, and count them");
  self.option("--steps", options.steps, "Steps of training; 0: 1300, for the transformer 800");
  self.option("--batch", options.batch, "Pairs in a step");
  self.option("--lr", options.lr, "Largest learning rate");
  self.option("--beams", options.beams, "Width of beam search; 1 is greedy");
  return self.run(argc, argv, [&] {
    check(onnx.asked() || options.arguments.empty(), "there is no command ",
          printable(detail::listed(options.arguments, " ")),
          "; there is export, and options begin with --, see --help");
    if (onnx.asked()) self.refuse({"--text", "--beams", "--compare"}, "is not for export");
    if (onnx.asked() || !options.text.empty()) {
      const std::string why = std::string("is for training; ") + (onnx.asked() ? "export" : "--text") +
                              " asks the model that the last training saved";
      self.refuse({"--model", "--attention", "--pairs", "--skip-bad", "--steps", "--batch", "--lr"}, why);
      self.refuse(Trainings::options(true), why);
    }
    if (onnx.asked()) return load_last(self).write_onnx(onnx);
    if (options.text.empty()) trainings.connect();
    if (comparing) {
      self.refuse({"--model", "--attention", "--text"}, "chooses one model; --compare trains all");
      check(trainings.processes()->size() == 1,
            "--compare trains several models in one process; start it without mpirun");
      return compare(self, trainings, options);
    }
    settle(options);
    if (options.text.empty())
      learn(self, trainings, options);
    else
      answer(self, options);
  });
}
