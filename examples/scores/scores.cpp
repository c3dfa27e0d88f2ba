// Every score with every normaliser, trained to find the right key.
//
// The task. T keys k = z + m: each z a random point of the sphere of radius sqrt(d), m a fixed hidden offset.
// To each key belongs one query
//
//   q = R z = R (k - m)          R a fixed hidden rotation
//
// The answer to a query is the value of its key. A model is not told which key that is: it sees the answers,
// and its loss is their squared error. All points are new at each step, so nothing can be memorized.
//
// q . R (k - m) is largest for the right key. It is a bilinear score with W = R (what m adds is the same for
// all keys, and softmax does not see it); additive and dense scores come near it within their families. The
// scores without matrices (dot, scaled dot, Gaussian) get a learned linear map in front of the query.

#include <heed.h>
#include <heed/text.h>
#include <heed/view.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "examples/scores/scale.h"
#include "examples/shared/training.h"

using namespace heed;
using namespace program;

namespace {

constexpr int64_t kWidth = 8, kKeys = 8, kValues = 4, kHidden = 32, kBatch = 32, kTest = 128;

struct Task {
  Tensor queries, keys, values;  // [B, T, d], [B, T, d], [B, T, 4]
  // Queries are in the reverse order of their keys. Models see no places, so that any order will do but the
  // same: there a score that takes queries for keys would be right, too.
  Tensor answers() const { return flip(values, {-2}); }
};

struct Relation {
  Tensor rotation = init::orthogonal({kWidth, kWidth}), offset = 2 * randn({kWidth});

  Task draw(int64_t batch) const {
    const Tensor x = randn({batch, kKeys, kWidth});
    const Tensor z = x * (std::sqrt(kWidth) / sqrt(sum(square(x), -1, true)));
    return {flip(F::linear(z, rotation), {-2}), z + offset, randn({batch, kKeys, kValues})};
  }
};

// A score behind a learned linear map of the query.
struct MappedScore {
  Tensor operator()(const Tensor& q, const Tensor& k) const { return score(map(q), k); }
  void visit(Visitor& v) {
    v("map", map);
    score.visit(v);
  }

  Linear map;
  AnyScore score;
};

AnyScore learned_score(const std::string& name) {
  const int64_t hidden = name == "low_rank" ? kWidth : kHidden;  // the relation has rank d
  AnyScore score = make_score(name, kWidth, kWidth, hidden);
  if (name == "dot" || name == "scaled_dot" || name == "gaussian")
    return MappedScore{Linear(kWidth, kWidth, {.bias = name == "gaussian"}), score};
  return score;
}

using Pooling = AttentionPooling<AnyScore, AnyNormaliser>;

struct Measured {
  double loss, accuracy, entropy, zeros;
};

Measured measure(const Pooling& model, const Task& task) {
  const NoGrad guard;
  const auto [output, weights] = model(task.queries, task.keys, task.values);
  const auto share = [](const Tensor& of) { return mean(to(of, float64)).item(); };
  return {F::mse_loss(output, task.answers()).item(),
          share(argmax(weights, -1) == flip(arange(kKeys, int64), {0})), mean(row_entropy(weights)).item(),
          share(weights == 0)};
}

// The mean of S hard choices beside the soft output. Their distance, root mean square over the queries, is
// that of any mean of S draws from its expectation: sqrt(E |v - output|^2 / S).
void hard_choices(Program& self) {
  constexpr int64_t queries = 128, at_once = 1000;
  manual_seed(self.seed);
  const NoGrad guard;
  const Tensor scores = 1.5 * randn({queries, kKeys}, float64), v = randn({kKeys, kValues}, float64);
  const Tensor a = SoftmaxNormaliser()(scores, {}), soft = attention_pool(a, v);
  const double variance = mean(matmul(a, sum(square(v), -1)) - sum(square(soft), -1)).item();
  Table table({"S", "distance", "expected", "distance sqrt(S)"});
  int64_t row = 0;
  double farthest = 0, nearest = 0;
  for (const int64_t samples : {10, 100, 1000, 10000}) {
    const double S = static_cast<double>(samples);
    Tensor difference = zeros(soft.shape(), float64);
    for (int64_t done = 0; done < samples; done += at_once) {
      const Tensor all = expand(scores, {std::min(at_once, samples - done), queries, kKeys});
      difference = difference + sum(attention_pool(HardNormaliser()(all, {}), v) - soft, 0) / S;
    }
    const double distance = std::sqrt(mean(sum(square(difference), -1)).item());
    const double expected = std::sqrt(variance / S);
    if (row == 0) farthest = distance;
    nearest = distance;
    table.add({std::to_string(samples), short_number(distance), short_number(expected),
               short_number(distance * std::sqrt(S))});
    const std::string place = "hard." + std::to_string(row++) + ".";
    self.result(place + "samples", samples);
    self.result(place + "distance", distance);
    self.result(place + "expected", expected);
  }
  self.text()
      << "\nHard attention draws one key with the probabilities of the softmax. The mean of S "
         "choices tends to the soft output\n("
      << queries
      << " queries, random scores; distance: between the two; expected: √(Σⱼ aⱼ |vⱼ|² − |o|²) / √S):\n\n"
      << table.to_string() << "\n\n1000 times the choices are " << short_number(farthest / nearest)
      << " times as near; √1000 = 31.62.\n";
}

Tokens numbered(const std::string& letter) {
  Tokens tokens;
  for (int64_t i = 1; i <= kKeys; ++i) tokens.push_back(letter + std::to_string(i));
  return tokens;
}

// Measures what is left when one parameter is that of a model never trained, the others as they were learned.
// Returns the names of those that are not missed: the loss without is not a tenth above what it was.
std::string forget(Program& self, const std::string& place, const std::string& score, const Pooling& model,
                   const Task& test, double loss, Table& table) {
  const NoGrad guard;
  std::string spared;
  Pooling untrained(learned_score(score), model.normaliser);
  const StateDict fresh = untrained.state_dict();
  int64_t row = 0;
  for (const NamedTensor& parameter : model.named_parameters()) {
    const Tensor learned = clone(parameter.tensor);
    copy_(parameter.tensor, fresh.at(parameter.name));
    const Measured without = measure(model, test);
    copy_(parameter.tensor, learned);
    if (without.loss < 1.1 * loss) spared += (spared.empty() ? "" : ", ") + score + "'s " + parameter.name;
    table.add({score, parameter.name, to_string(learned.shape()), short_number(without.loss),
               short_number(without.accuracy)});
    const std::string at = place + "forgotten." + std::to_string(row++) + ".";
    self.result(at + "parameter", parameter.name);
    self.result(at + "loss", without.loss);
    self.result(at + "accuracy", without.accuracy);
  }
  return spared;
}

void train(Trainings& trainings, const std::string& name, Pooling& model, const Relation& relation,
           int64_t steps) {
  Adam adam(model.parameters());
  Training training(model, adam, trainings.with({.name = name}));
  trainings.expect(training, {"--steps", "--seed"});
  trainings.run(training, steps, [&] {
    // Large steps at first, to come close soon; small ones in the end, to be exact.
    adam.set_lr(0.02 * (1 - static_cast<double>(training.step()) / static_cast<double>(steps)));
    const Task task = relation.draw(kBatch);
    return training.descend(F::mse_loss(model(task.queries, task.keys, task.values).output, task.answers()));
  });
}

// The formula of each score, in this program's letters: U, the map of a query that has none of its own.
const char* formula_of(const std::string& score) {
  if (score == "dot") return "(q U) . k";
  if (score == "scaled_dot") return "(q U) . k / √d";
  if (score == "additive") return "v . tanh(q W_q + k W_k)";
  if (score == "bilinear") return "(q W) . k";
  if (score == "low_rank") return "(q L) . (k H)      W = L Hᵀ";
  if (score == "dense") return "q . tanh(k W + b)";
  return "-|(q U + u - k) w|² / 2";
}

void explain(Program& self, const std::vector<std::string>& scores) {
  Table table({"score", "s(q, k)"});
  for (const std::string& score : scores) table.add({score, formula_of(score)});
  self.text()
      << "f(q) = Σⱼ α(q, kⱼ) vⱼ    α(q, ·) = the normaliser of the scores s(q, k₁) ... s(q, k" << kKeys
      << ")\n\n"
      << table.to_string()
      << "\n\nThe task: every key is a point z of a sphere moved by a hidden offset, k = z + m, and "
         "has one query, q = R z with a\nhidden rotation R. The answer to a query is the value of its "
         "key. A model is not told which key that is: it\nsees the answers alone, at new points in each "
         "step, so that nothing can be memorized.\n"
         "What to look for: \"right key\" rises from chance to near 1. The score has found the "
         "relation that was planted."
         "\n\n";
}

void train_scores(Program& self, Trainings& trainings, const std::vector<std::string>& scores,
                  const std::vector<std::string>& normalisers, int64_t steps) {
  Table table({"score", "normaliser", "parameters", "loss before", "loss after", "right key before",
               "right key after", "entropy", "exact zeros"});
  Table parameters({"score", "parameter", "shape", "loss", "right key"});
  int64_t row = 0;
  double least = INFINITY;  // of the right keys
  std::string weakest, all_spared;
  explain(self, scores);
  trainings.share_progress(std::ssize(scores) * std::ssize(normalisers) * steps);
  for (const std::string& score : scores) {
    for (const std::string& normaliser : normalisers) {
      manual_seed(self.seed);  // the same relation and the same test for all
      const Relation relation;
      const Task test = relation.draw(kTest);
      Pooling model(learned_score(score), make_normaliser(normaliser));
      const Measured before = measure(model, test);
      train(trainings, score + "-" + normaliser, model, relation, steps);
      const Measured after = measure(model, test);
      table.add({score, normaliser, std::to_string(model.parameter_count()), short_number(before.loss),
                 short_number(after.loss), short_number(before.accuracy), short_number(after.accuracy),
                 short_number(after.entropy), short_number(after.zeros)});
      if (after.accuracy < least) weakest = score + " with " + normaliser;
      least = std::min(least, after.accuracy);
      const std::string place = "scores." + std::to_string(row++) + ".";
      self.result(place + "score", score);
      self.result(place + "normaliser", normaliser);
      self.result(place + "parameters", model.parameter_count());
      self.result(place + "loss", after.loss);
      self.result(place + "loss_before", before.loss);
      self.result(place + "accuracy", after.accuracy);
      self.result(place + "accuracy_before", before.accuracy);
      self.result(place + "entropy", after.entropy);
      self.result(place + "zeros", after.zeros);
      if (normaliser != normalisers.front()) continue;
      const std::string spared = forget(self, place, score, model, test, after.loss, parameters);
      if (!spared.empty()) all_spared += (all_spared.empty() ? "" : ", ") + spared;
      if (!self.draws()) continue;
      const NoGrad guard;
      Tokens queries = numbered("q");
      std::reverse(queries.begin(), queries.end());
      // Query i, whose key is i, in row i.
      const Tensor weights = flip(model(test.queries, test.keys, test.values).weights, {-2});
      self.write_picture(score + ".svg",
                         attention_svg(AttentionMap(weights, numbered("q"), numbered("k"),
                                                    {.sentence = "the key of query i is key i",
                                                     .module = score + ", " + normaliser})));
    }
  }
  self.text()
      << kKeys << " keys of width " << kWidth << "; right by chance: " << short_number(1.0 / kKeys)
      << "; entropy of equal weights: " << short_number(std::log(kKeys)) << "; " << steps
      << " steps of Adam\n\n"
      << table.to_string()
      << "\n\nloss: squared error of the answer. right key: the share of queries whose own key has the "
         "largest "
         "weight, among points\nnever seen before. entropy: of a query's weights, 0 when all is on one key. "
         "exact zeros: the share of weights that are 0.\n\nWith one parameter forgotten, drawn again at "
         "random ("
      << normalisers.front() << "):\n\n"
      << parameters.to_string() << "\n\n"
      << (least == 1 ? "After training every query finds its key"
                     : "After training at least " + short_number(least) + " of the queries find their key (" +
                           weakest + " is the least sure)")
      << ".\n"
      << (all_spared.empty() ? "No score does without what it has learned"
                             : "Without what they have learned the scores do worse, but for " + all_spared)
      << ".\n";
}

}  // namespace

int main(int argc, char** argv) {
  Program self("scores", "Trains each attention score with each normaliser to find the right key.");
  Trainings trainings(self);
  const std::string all = "all";
  std::string compare = "scores", score = all, normaliser = all;
  int64_t steps = 1000;
  const auto or_all = [&](std::vector<std::string> names) {
    names.insert(names.begin(), all);
    return names;
  };
  self.choice("--compare", compare, {"scores", "scale"}, "All scores, or dot products scaled and not");
  self.choice("--score", score, or_all(score_names()), "Train this score only");
  self.choice("--normaliser", normaliser, or_all(normaliser_names()),
              "Train with this normaliser only; all: softmax, sparsemax, hard");
  self.option("--steps", steps, "Training steps of each");
  return self.run(argc, argv, [&] {
    check_range("--steps", steps, 1, 1000000);
    if (compare == "scale") {
      const std::string why = "is for training; --compare scale trains nothing";
      self.refuse({"--score", "--normaliser", "--steps"}, why);
      self.refuse(Trainings::options(), why);
      return compare_scale(self);
    }
    const auto chosen = [&](const std::string& name, const std::vector<std::string>& names) {
      return name == all ? names : std::vector<std::string>{name};
    };
    train_scores(self, trainings, chosen(score, score_names()),
                 chosen(normaliser, {"softmax", "sparsemax", "hard"}), steps);
    if (normaliser == all || normaliser == "hard") hard_choices(self);
  });
}
