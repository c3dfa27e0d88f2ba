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
#include <heed/view.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
#include <ostream>

#include "examples/shared/training.h"
#include "examples/translate/translation.h"

using namespace heed;
using namespace program;

namespace {

const std::string kShown = "我爱中国";

struct Options {
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
  check(options.steps > 0 && options.batch > 0 && options.beams > 0 && options.lr > 0,
        "--steps, --batch, --beams and --lr must be above 0");
  check_range("--steps", options.steps, 1, 1000000000);
  check_range("--batch", options.batch, 1, 100000);
  check_range("--beams", options.beams, 1, 1000);
}

// The data, for a training that goes on with them: how many, and a word that is another for others.
std::string describe(const std::vector<Pair>& pairs) {
  std::vector<std::string> texts;
  for (const Pair& pair : pairs) texts.insert(texts.end(), {pair.source, pair.target});
  return std::to_string(pairs.size()) + ", " + fingerprint(texts);
}

// Teacher forcing with Adam; the rate warms up, then falls to 0. Returns the mean losses of tenths of the
// training.
std::vector<double> train(Training& training, const std::string& name, const Translation& translation,
                          const Split& parts, const Options& options, uint64_t seed) {
  std::vector<int64_t> lengths, words;
  for (const Pair& pair : parts.train) {
    lengths.push_back(std::ssize(tokenise(pair.source)));
    words.push_back(std::ssize(tokenise(pair.target)) + 1);
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

  Checkpoint state(training.folder());
  state.add("model", translation.module());
  state.add("optimizer", optimizer);
  state.add("schedule", schedule);
  state.add("random", default_generator());
  state.add("batches", batches);
  state.add("losses", losses);
  state.add("sum", sum);
  state.add("summed", summed);
  state.expect("--model", options.model);
  state.expect("--attention", options.attention);
  training.expect(state, {"--steps", "--batch", "--lr", "--seed"});
  state.expect("pairs to learn from", describe(parts.train));
  training.run(
      state, options.steps,
      [&](int64_t, bool validate) {
        std::vector<Pair> some;
        int64_t tokens = 0;
        for (const int64_t i : batches.next()) {
          some.push_back(parts.train[static_cast<size_t>(i)]);
          tokens += words[static_cast<size_t>(i)];
        }
        StepRecord record = descend(translation.loss(some), optimizer, translation.module(), tokens);
        schedule.step();

        sum += record.loss;
        ++summed;
        if (!validate) return record;
        losses.push_back(sum / std::exchange(summed, 0));
        sum = 0;
        if (unseen.empty()) return record;
        const NoGrad guard;
        translation.module().eval();
        record.validation = translation.loss(unseen).item();
        translation.module().train();
        return record;
      },
      name);
  return losses;
}

struct Share {
  int64_t right = 0, of = 0;
  double value() const { return of ? static_cast<double>(right) / static_cast<double>(of) : 0; }
};

// Exact matches by the length of the source, and of three parts of about the same size by length.
struct Lengths {
  std::map<int64_t, Share> each;
  Share thirds[3];
};

Lengths by_length(const std::vector<Tokens>& sources, const std::vector<Tokens>& translations,
                  const std::vector<Tokens>& references) {
  Lengths result;
  std::vector<size_t> order(sources.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return sources[a].size() < sources[b].size(); });
  for (size_t i = 0; i < order.size(); ++i) {
    const bool right = translations[order[i]] == references[order[i]];
    for (Share* share : {&result.each[std::ssize(sources[order[i]])], &result.thirds[3 * i / order.size()]}) {
      share->of += 1;
      share->right += right;
    }
  }
  return result;
}

// The alignment of one sentence: on the terminal if it is not too wide, and for --json.
void show_alignment(Program& self, const Translation& translation, const Tokens& source,
                    const Tokens& target) {
  const AttentionMap map = translation.alignment(source, target);
  constexpr size_t kWidest = 40;  // words in a row of a terminal
  self.remove("alignment.svg");
  if (source.size() <= kWidest && target.size() <= kWidest) {
    self.text() << "\nwhich words each word was made from:\n"
                << attention_text(map, self.colour() ? TextStyle::coloured : TextStyle::plain) << "\n";
  } else {
    self.text() << "\nwhich words each word was made from is too much for a terminal: see alignment.svg\n";
    self.write_picture("alignment.svg", attention_svg(map));
  }
  self.result("alignment.source", source);
  self.result("alignment.target", target);
  self.result("alignment.weights", narrow(map.weights[0], 0, 0, std::ssize(target)));
}

constexpr size_t kDrawn = 4;  // sentences with a heat map
std::string alignment_file(size_t i) { return "alignment_" + std::to_string(i + 1) + ".svg"; }

// The page and the heat maps of some sentences.
void draw_attention(Program& self, const Translation& translation, const std::vector<Tokens>& sources,
                    const std::vector<Tokens>& translations) {
  std::vector<AttentionMap> maps;
  for (size_t i = 0; i < sources.size(); ++i) {
    self.write_picture(alignment_file(i), attention_svg(translation.alignment(sources[i], translations[i])));
    std::ranges::move(translation.attention(sources[i], translations[i]), std::back_inserter(maps));
  }
  self.write_picture("attention.html", attention_page(maps));
}

void draw_lengths(Program& self, const Lengths& lengths) {
  std::string data = "length,sentences,exact_match\n";
  for (const auto& [length, share] : lengths.each)
    data +=
        std::to_string(length) + "," + std::to_string(share.of) + "," + short_number(share.value()) + "\n";
  self.write("by_length.csv", data);
  self.plot("by_length",
            "set datafile separator ','\nset title 'Exact translations of unseen sentences'\n"
            "set xlabel 'characters of the source'\nset ylabel 'share'\nset yrange [0:1.05]\n"
            "set boxwidth 0.7\nset style fill solid\nunset key\n"
            "plot 'by_length.csv' skip 1 using 1:3 with boxes linecolor '#0072b2'\n");
}

void print_lengths(Program& self, const Lengths& lengths) {
  Table table({"length", "sentences", "exact match", ""});
  int64_t row = 0;
  for (const auto& [length, share] : lengths.each) {
    table.add({std::to_string(length), std::to_string(share.of), short_number(share.value()),
               std::string(static_cast<size_t>(std::lround(20 * share.value())), '#')});
    const std::string name = "by_length." + std::to_string(row++);
    self.result(name + ".length", length);
    self.result(name + ".n", share.of);
    self.result(name + ".exact_match", share.value());
  }
  self.text() << "\n" << table.to_string() << "\nby thirds, short to long:";
  const char* names[] = {"shortest", "middle", "longest"};
  for (int i = 0; i < 3; ++i) {
    self.text() << (i ? ", " : " ") << short_number(lengths.thirds[i].value());
    self.result(std::string("thirds.") + names[i], lengths.thirds[i].value());
  }
  self.text() << "\n";
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
          "What to look for: how exact the longest third is beside the shortest"
       << (options.model == "rnn" ? "; one vector has to hold more and more"
                                  : ", and what each word was made from")
       << ".\n\n";
}

std::string model_file(const Program& self) { return self.out + "/translate.safetensors"; }

// What a training came to.
struct Learned {
  std::string model;
  int64_t parameters;
  double exact, bleu, seconds;
  Lengths lengths;
};

Learned learn(Program& self, Training& training, const Options& options, const std::string& name = "") {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  manual_seed(self.seed);
  Generator random(self.seed);
  int64_t skipped = 0;
  const auto pairs =
      options.pairs.empty() ? generate_corpus(random) : read_pairs(options.pairs, options.skip_bad, &skipped);
  if (skipped > 0) self.text() << skipped << " lines of " << options.pairs << " are passed over\n";
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
  const std::vector<double> losses = train(training, name, translation, parts, options, self.seed);
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
  // Samples: the sentence everybody knows where it is, then some of the test as they come, then mistakes.
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
  if (mistakes == 0)
    text << "There are no mistakes.\n";
  else if (shown == mistakes)
    text << "There are no mistakes but those among these, " << mistakes << " of " << sources.size()
         << " sentences.\n";
  else
    text << "These are " << shown << " of " << mistakes << " mistakes in " << sources.size()
         << " sentences.\n";
  self.result("mistakes", mistakes);
  const double lost = lengths.thirds[0].value() - lengths.thirds[2].value();
  text << "From the shortest third of the sentences to the longest the share of exact answers "
       << (lost > 0   ? "falls by " + short_number(lost)
           : lost < 0 ? "rises by " + short_number(-lost)
                      : "stays")
       << (options.model == "rnn" ? ": one vector holds them all.\n"
                                  : ": each word looks at the source for itself.\n");

  draw_lengths(self, lengths);
  translation.save(model_file(self));
  // The model before is gone, and so is what it attended to.
  for (const char* drawn : {"alignment.svg", "attention.html"}) self.remove(drawn);
  for (size_t i = 0; i < kDrawn; ++i) self.remove(alignment_file(i));
  const Learned learned{options.model, translation.module().parameter_count(), exact, score, seconds,
                        lengths};
  if (!translation.attends()) return learned;
  show_alignment(self, translation, sources[samples[0]], translations[samples[0]]);
  std::vector<Tokens> shown_sources, shown_translations;
  for (size_t i = 0; i < std::min(kDrawn, samples.size()); ++i) {
    shown_sources.push_back(sources[samples[i]]);
    shown_translations.push_back(translations[samples[i]]);
  }
  draw_attention(self, translation, shown_sources, shown_translations);
  return learned;
}

// All models on the same data, each in a folder of its own, then side by side.
void compare(Program& self, Training& training, const Options& options) {
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
    all.push_back(learn(self, training, one, model));
    std::ranges::move(read_log(training.log_file()), std::back_inserter(curves));
  }
  self.out = folder;
  self.below = "";

  Table table(
      {"model", "parameters", "exact match", "shortest third", "middle", "longest third", "BLEU", "seconds"});
  std::string data = "length", plot;
  for (const Learned& one : all) {
    std::vector<std::string> cells = {one.model, std::to_string(one.parameters), short_number(one.exact)};
    for (const Share& third : one.lengths.thirds) cells.push_back(short_number(third.value()));
    cells.push_back(short_number(one.bleu));
    cells.push_back(short_number(one.seconds));
    table.add(cells);
    data += "," + one.model;
    plot += (plot.empty() ? "plot '" : ", '") + std::string("by_length.csv' skip 1 using 1:") +
            std::to_string(&one - all.data() + 2) + " with linespoints lw 2 pt 7 title '" + one.model + "'";
  }
  for (const auto& [length, share] : all[0].lengths.each) {
    data += "\n" + std::to_string(length);
    for (const Learned& one : all) data += "," + short_number(one.lengths.each.at(length).value());
  }
  const auto lost = [&](size_t i) {
    return all[i].lengths.thirds[0].value() - all[i].lengths.thirds[2].value();
  };
  self.text()
      << "\n-- all three\n\n"
      << table.to_string()
      << "\n\nFrom the shortest third of the sentences to the longest the share of exact answers falls by "
      << short_number(lost(0)) << " without attention,\nby " << short_number(lost(1)) << " with it, and by "
      << short_number(lost(2)) << " in the transformer"
      << (lost(0) > std::max({0.0, lost(1), lost(2)})
              ? ": one vector is a bottleneck for long sentences.\n"
              : "; after enough steps one vector is a bottleneck for long sentences, here it is not seen.\n");
  self.write("by_length.csv", data + "\n");
  self.plot("by_length",
            "set datafile separator ','\nset title 'Exact translations of unseen sentences'\n"
            "set xlabel 'characters of the source'\nset ylabel 'share'\nset yrange [0:1.05]\n"
            "set key below horizontal\n" +
                plot + "\n");
  draw_losses(self, "loss", curves);
}

void answer(Program& self, const Options& options) {
  const std::string file = model_file(self);
  check(std::filesystem::exists(file), file, ": there is no model yet; translate without --text trains one");
  const Translation translation = Translation::load(file);
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
      "one thread by default.");
  self.out = "out/translate";
  // Steps this small gain little from a second core, and lose much when it is busy with something else.
  self.default_threads = 1;
  Training training(self);
  Options options;
  std::vector<std::string> attentions = {"none"};
  attentions.insert(attentions.end(), score_names().begin(), score_names().end());
  self.choice("--model", options.model, {"rnn", "attention", "transformer"}, "What to train");
  bool comparing = false;
  self.flag("--compare", comparing,
            "Train without attention, with it, and a transformer, and put them side by side");
  self.choice("--attention", options.attention, attentions,
              "How the attention model scores (default: additive)");
  self.option("--text", options.text,
              "Translate this with the model of the last training; nothing is trained");
  self.option("--pairs", options.pairs,
              "Train on this file instead: a sentence, a tab, its translation on each line, of at most " +
                  std::to_string(kLongestSentence) + " words or characters each");
  self.flag("--skip-bad", options.skip_bad,
            "Pass over the lines of --pairs that cannot be used, and count them");
  self.option("--steps", options.steps, "Steps of training; 0: 1300, for the transformer 800");
  self.option("--batch", options.batch, "Pairs in a step");
  self.option("--lr", options.lr, "Largest learning rate");
  self.option("--beams", options.beams, "Width of beam search; 1 is greedy");
  return self.run(argc, argv, [&] {
    if (!options.text.empty()) {
      const std::string why = "is for training; --text asks the model that the last training saved";
      self.refuse({"--model", "--attention", "--pairs", "--skip-bad", "--steps", "--batch", "--lr"}, why);
      self.refuse(Training::options(), why);
    }
    if (comparing) {
      self.refuse({"--model", "--attention", "--text"}, "chooses one model; --compare trains all");
      return compare(self, training, options);
    }
    settle(options);
    if (options.text.empty())
      learn(self, training, options);
    else
      answer(self, options);
  });
}
