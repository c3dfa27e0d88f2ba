// The cost of a layer as sequences grow: counted, measured, and compared with the theory.
//
//   work      multiply-adds and time of one layer over T positions of width d
//
//               layer             multiply-adds   steps in a row   steps between the ends
//               recurrent (GRU)   6 T d^2         T                T
//               convolution       k T d^2         1                (T - 1) / (k - 1), that many layers
//               self-attention    2 T^2 d         1                1
//
//   memory    the most bytes alive in attention, forward and backward: T^2 where all weights are kept,
//             T where they come and go in tiles
//   recall    which token was the first, asked at the end of T: a state must carry it over T steps,
//             attention looks it up
//
// An exponent is the slope of a line through the logarithms at the three largest T.

#include <heed.h>
#include <heed/training.h>
#include <heed/view.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ostream>

#include "examples/complexity/growth.h"
#include "examples/shared/training.h"

using namespace heed;
using namespace program;

namespace {

bool power_of_two(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

// ---- work

// y_t = W [x_{t-k+1}, ..., x_t] + b, with zeros before the start: a convolution as one linear map of k
// neighbours side by side.
class Convolution : public Layer<Convolution> {
 public:
  Convolution(int64_t width, int64_t k) : k(k), linear(k * width, width) {}
  Tensor forward(const Tensor& x) const {
    const Tensor padded = pad(x, {0, 0, k - 1, 0});  // [k - 1 + T, d]
    std::vector<Tensor> shifted;
    for (int64_t i = 0; i < k; ++i) shifted.push_back(narrow(padded, 0, i, x.size(0)));
    return linear(cat(shifted, 1));  // [T, k d] -> [T, d]
  }
  void visit(Visitor& v) override { v("linear", linear); }

  int64_t k;
  Linear linear;
};

struct Recurrent : Layer<Recurrent> {
  explicit Recurrent(int64_t width) : gru(width, width) {}
  Tensor forward(const Tensor& x) const { return gru(x).output; }
  void visit(Visitor& v) override { v("gru", gru); }

  GRU gru;
};

struct SelfAttention : Layer<SelfAttention> {
  Tensor forward(const Tensor& x) const { return F::scaled_dot_product_attention(x, x, x).output; }
};

struct Work {
  std::string key, name;
  double theory;
  Numbers formula, counted, seconds;
};

// The shortest of at least five calls, of a tenth of a second together.
template <class F>
double seconds_of(const F& f) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  f();
  double least = 1e9;
  const auto start = Clock::now();
  for (int calls = 0; calls < 5 || since(start) < 0.1; ++calls) {
    const auto now = Clock::now();
    f();
    least = std::min(least, since(now));
  }
  return least;
}

void show_work(Program& self, int64_t longest, int64_t width, int64_t k) {
  const std::vector<int64_t> lengths = doubled(128, longest);
  const auto d = static_cast<double>(width);
  std::vector<Work> layers = {{"recurrent", "recurrent (GRU)", 1, {}, {}, {}},
                              {"convolution", "convolution", 1, {}, {}, {}},
                              {"attention", "self-attention", 2, {}, {}, {}}};
  const Recurrent recurrent(width);
  const Convolution convolution(width, k);
  const SelfAttention attention;
  Progress progress("work", static_cast<int64_t>(lengths.size()));
  const NoGrad guard;
  for (const int64_t length : lengths) {
    const auto T = static_cast<double>(length);
    const Tensor x = randn({length, width});
    const auto measure = [&](Work& work, auto& layer, double formula) {
      work.formula.push_back(formula);
      work.counted.push_back(static_cast<double>(summary(layer, x).flops) / 2);
      work.seconds.push_back(seconds_of([&] { layer(x); }));
    };
    measure(layers[0], recurrent, 6 * T * d * d);
    measure(layers[1], convolution, static_cast<double>(k) * T * d * d);
    measure(layers[2], attention, 2 * T * T * d);
    progress.step();
  }

  std::ostream& out = self.text();
  out << "Work of one layer over T positions of width d = " << width << ", convolution over k = " << k
      << " neighbours\n\n"
      << "  multiply-adds: recurrent (GRU) 6 T d², convolution k T d², self-attention 2 T² d, each counted "
         "while the layer "
         "runs.\n  Left out: gates, softmax and biases, which grow no faster, and the projections of "
         "queries, keys and "
         "values.\n  fitted: the slope of a line through the logarithms at the three largest T.\n"
         "  What to look for: twice the length is twice the work, for attention four times.\n\n";
  print_row(out, "multiply-adds", cells_of(lengths, short_number), "fitted");
  std::vector<std::string> names;
  std::vector<Numbers> seconds;
  self.result("work.lengths", as_tensor(lengths));
  for (const Work& work : layers) {
    const double fitted = exponent(lengths, work.counted);
    print_row(
        out, work.name, cells_of(work.counted, short_number),
        compared_with_theory(fitted, work.theory) +
            (work.counted == work.formula ? "" : "   NOT the formula's " + short_number(work.formula[0])));
    self.result("work." + work.key + ".formula", as_tensor(work.formula));
    self.result("work." + work.key + ".counted", as_tensor(work.counted));
    self.result("work." + work.key + ".exponent", fitted);
    self.result("work." + work.key + ".theory", work.theory);
  }
  out << '\n';
  print_row(out, "milliseconds, forward", cells_of(lengths, short_number), "fitted");
  for (const Work& work : layers) {
    const double fitted = exponent(lengths, work.seconds);
    print_row(out, work.name, cells_of(work.seconds, [](double s) { return short_number(1e3 * s); }),
              compared_with_theory(fitted, work.theory));
    self.result("work." + work.key + ".seconds", as_tensor(work.seconds));
    self.result("work." + work.key + ".time_exponent", fitted);
    names.push_back(work.name);
    seconds.push_back(work.seconds);
  }
  const std::string T = std::to_string(lengths.back());
  out << '\n';
  print_row(out, "at T = " + T, {"in a row", "path"}, "steps one after the other; steps between the ends");
  print_row(out, layers[0].name, {T, T});
  print_row(out, layers[1].name, {"1", std::to_string((lengths.back() + k - 3) / (k - 1))},
            "the path is a layer for each k - 1 positions");
  print_row(out, layers[2].name, {"1", "1"});
  const auto grown = [](const Work& work) { return short_number(work.counted.back() / work.counted[0]); };
  out << "\nFrom T = " << lengths[0] << " to " << T << " the work of the GRU and the convolution grew "
      << grown(layers[0]) << " and " << grown(layers[1]) << " times, that of attention " << grown(layers[2])
      << " times;\nfor it no position waits for another and any two are one step apart.\n\n";
  plot_lines(self, "work", "Time of one layer, forward", "milliseconds", lengths, names, scaled(seconds, 1e3),
             {1, 1, 2});
}

// ---- memory

void show_memory(Program& self, int64_t longest, int64_t width) {
  const std::vector<int64_t> lengths = doubled(128, longest);
  const std::vector<std::string> keys = {"materialised", "blocked"};
  std::vector<Numbers> bytes(2);
  Progress progress("memory", static_cast<int64_t>(2 * lengths.size()));
  for (const int64_t length : lengths)
    for (const bool weights : {true, false}) {
      const Tensor x = randn({4, length, width}).requires_grad_();  // four heads
      reset_peak_memory();
      const size_t before = memory_use().live;
      sum(F::scaled_dot_product_attention(x, x, x, {.need_weights = weights}).output).backward();
      bytes[weights ? 0 : 1].push_back(static_cast<double>(memory_use().peak - before));
      progress.step();
    }

  std::ostream& out = self.text();
  out << "Memory of attention, forward and backward, 4 heads of width " << width << "\n\n"
      << "  materialised: the 4 T² weights and their gradients    blocked: 4 T sums, tile by tile\n\n"
      << "  The most bytes alive at once, in millions, without what was there before. Materialised keeps all "
         "T² weights of a "
         "head;\n  blocked computes them tile by tile, and again for the gradient.\n"
         "  What to look for: the one grows by four when T doubles, the other by two.\n\n";
  print_row(out, "MB at most", cells_of(lengths, short_number), "fitted");
  self.result("memory.lengths", as_tensor(lengths));
  for (size_t i = 0; i < keys.size(); ++i) {
    const double theory = i == 0 ? 2 : 1, fitted = exponent(lengths, bytes[i]);
    print_row(out, keys[i], cells_of(bytes[i], [](double b) { return short_number(b / 1e6); }),
              compared_with_theory(fitted, theory));
    self.result("memory." + keys[i] + ".bytes", as_tensor(bytes[i]));
    self.result("memory." + keys[i] + ".exponent", fitted);
    self.result("memory." + keys[i] + ".theory", theory);
  }
  out << "\nAt T = " << lengths.back() << " attention that keeps its weights takes "
      << short_number(bytes[0].back() / bytes[1].back()) << " times the memory of attention by tiles.\n\n";
  plot_lines(self, "memory", "Memory of attention, forward and backward", "MB", lengths, keys,
             scaled(bytes, 1e-6), {2, 1});
}

// ---- recall

constexpr int64_t kSymbols = 8;  // one of them comes first; the noise consists of as many others

// ids [B, T] and which symbol came first, [B].
struct Batch {
  Tensor ids, first;
};
Batch draw(int64_t size, int64_t length) {
  const Tensor first = randint(0, kSymbols, {size});
  return {cat({unsqueeze(first, 1), randint(kSymbols, 2 * kSymbols, {size, length - 1})}, 1), first};
}

// The answer of a layer at the end of a sequence [B, T, E]: the last state of a recurrent one, and for
// attention what the last position finds.
template <class Recurrent>
Tensor last_of(const Recurrent& layer, const Tensor& x) {
  return layer(x).h_n[0];
}
Tensor last_of(const MultiheadAttention& layer, const Tensor& x) {
  return squeeze(layer(narrow(x, 1, x.size(1) - 1, 1), x, x).output, 1);
}

template <class Sequence>
class Reader : public Layer<Reader<Sequence>> {
 public:
  Reader(Sequence sequence, int64_t width)
      : words(2 * kSymbols, 32), sequence(std::move(sequence)), answer(width, kSymbols) {}
  Tensor forward(const Tensor& ids) const { return answer(last_of(sequence, words(ids))); }
  void visit(Visitor& v) override {
    v("words", words);
    v("sequence", sequence);
    v("answer", answer);
  }

  Embedding words;
  Sequence sequence;
  Linear answer;
};

template <class Model>
double train(Trainings& trainings, const std::string& name, Model& model, int64_t length, int64_t steps) {
  Adam adam(model.parameters(), {.lr = 5e-3});
  Training training(model, adam, trainings.with({.max_norm = 1, .name = name}));
  trainings.expect(training, {"--steps", "--seed"});
  trainings.run(training, steps, [&] {
    const auto [ids, first] = draw(32, length);
    return training.descend(F::cross_entropy(model(ids), first), ids.numel());
  });
  const NoGrad guard;
  const auto [ids, first] = draw(500, length);
  return mean(to(argmax(model(ids), -1) == first, float64)).item();
}

void show_recall(Program& self, Trainings& trainings, int64_t reach, int64_t steps) {
  const std::vector<int64_t> lengths = doubled(8, reach);
  const std::vector<std::string> keys = {"rnn", "gru", "attention"};
  std::vector<Numbers> accuracy(3);
  std::vector<int64_t> parameters(3);
  trainings.share_progress(static_cast<int64_t>(3 * lengths.size()) * steps);
  for (const int64_t length : lengths) {
    const auto run = [&](size_t i, auto model) {
      parameters[i] = model.parameter_count();
      accuracy[i].push_back(train(trainings, keys[i] + "-" + std::to_string(length), model, length, steps));
    };
    run(0, Reader(RNN(32, 50, {.batch_first = true}), 50));
    run(1, Reader(GRU(32, 24, {.batch_first = true}), 24));
    run(2, Reader(MultiheadAttention(32, 4), 32));
  }

  std::ostream& out = self.text();
  out << "Recall of the first token at the end of T, after " << steps << " steps of training; chance is "
      << short_number(1.0 / kSymbols) << "\n\n"
      << "  rnn, gru     hₜ = f(hₜ₋₁, xₜ), the answer from h_T\n"
         "  attention    o = Σₜ αₜ vₜ, αₜ = softmaxₜ(q_T · kₜ / √d), the answer from o\n\n"
      << "  One of " << kSymbols
      << " symbols comes first, noise follows. A recurrent net must carry it over T steps in its "
         "state; attention looks\n  it up in one. accuracy: the share of right answers for 500 new "
         "sequences.\n"
         "  What to look for: from which T on a recurrent net knows no more than chance.\n\n";
  print_row(out, "accuracy", cells_of(lengths, short_number), "parameters");
  self.result("recall.lengths", as_tensor(lengths));
  for (size_t i = 0; i < keys.size(); ++i) {
    print_row(out, keys[i], cells_of(accuracy[i], short_number), std::to_string(parameters[i]));
    self.result("recall." + keys[i] + ".accuracy", as_tensor(accuracy[i]));
    self.result("recall." + keys[i] + ".parameters", parameters[i]);
  }
  // From which length on a model is no better than chance, but for three standard deviations of 500 guesses.
  const double chance = 1.0 / kSymbols, bound = chance + 3 * std::sqrt(chance * (1 - chance) / 500);
  out << "\nNo better than chance";
  for (size_t i = 0; i < keys.size(); ++i) {
    size_t from = lengths.size();
    while (from > 0 && accuracy[i][from - 1] <= bound) --from;
    out << (i ? ", " : ": ") << keys[i]
        << (from < lengths.size() ? " from T = " + std::to_string(lengths[from]) + " on"
                                  : " at no T up to " + std::to_string(lengths.back()));
  }
  out << ".\n\n";
  plot_lines(self, "recall", "Which token stood first? Asked at the end", "accuracy", lengths, keys, accuracy,
             {});
}

}  // namespace

int main(int argc, char** argv) {
  std::string part = "all";
  int64_t longest = 4096, width = 64, k = 3, reach = 128, steps = 400;
  Program self("complexity", "Work, memory and reach of recurrent, convolutional and attention layers.");
  Trainings trainings(self);
  self.option("--part", part, "work, memory, recall or all");
  self.option("--longest", longest, "The longest sequence of work and memory: 512, 1024, ..., 8192");
  self.option("--width", width, "Numbers at each position, d");
  self.option("--kernel", k, "Neighbours that the convolution sees, k");
  self.option("--reach", reach, "The longest sequence of recall: 8, 16, ..., 512");
  self.option("--steps", steps, "Steps of training of each model in recall");
  return self.run(argc, argv, [&] {
    check(part == "all" || part == "work" || part == "memory" || part == "recall", "--part ", part,
          " is none of work, memory, recall and all");
    check(power_of_two(longest) && longest >= 512 && longest <= 8192, "--longest ", longest,
          " is not 512, 1024, 2048, 4096 or 8192");
    check_range("--width", width, 1, 1024);
    check_range("--kernel", k, 2, 64);
    check(power_of_two(reach) && reach >= 8 && reach <= 512, "--reach ", reach,
          " is not 8, 16, 32, 64, 128, 256 or 512");
    check_range("--steps", steps, 1, 100000);
    if (part != "all") {
      self.only(part, {"work", "memory"}, {"--longest", "--width"});
      self.only(part, {"work"}, {"--kernel"});
      self.only(part, {"recall"}, {"--reach", "--steps"});
      self.only(part, {"recall"}, Trainings::options());
    }
    manual_seed(self.seed);
    if (part == "all" || part == "work") show_work(self, longest, width, k);
    if (part == "all" || part == "memory") show_memory(self, longest, width);
    if (part == "all" || part == "recall") show_recall(self, trainings, reach, steps);
  });
}
