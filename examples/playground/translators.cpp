#include "examples/playground/translators.h"

#include <algorithm>
#include <memory>

#include "examples/playground/message.h"
#include "examples/playground/two_translators.h"

namespace program {

using namespace heed;

namespace {

constexpr int64_t kFirstSeed = 1, kMostSteps = 100, kMostCells = 1000, kMostBytes = 1000000;

std::unique_ptr<TwoTranslators> both;
int64_t seed_of_training = -1;  // of translators_learn; -1 before it and after translators_load

// The translators of the present training.
TwoTranslators& translators() {
  if (!both) both = std::make_unique<TwoTranslators>(kFirstSeed);
  return *both;
}

void append_tokens(std::vector<float>& answer, const Tokens& tokens) {
  append(answer, static_cast<double>(tokens.size()));
  for (const std::string& token : tokens) append(answer, token);
}

// The tokens of a text without punctuation at its end.
Tokens source_of(const std::string& text) {
  static const Tokens marks = {"。", "？", "！", ".", "?", "!"};
  Tokens tokens = tokenise(text);
  while (!tokens.empty() && std::ranges::count(marks, tokens.back()) > 0) tokens.pop_back();
  return tokens;
}

int64_t state_in(RequestReader& request) {
  return request.integer("state", TwoTranslators::kPresent, TwoTranslators::kMostKept - 1);
}

}  // namespace

std::vector<float> translators_learn(std::span<const float> numbers) {
  RequestReader request("translators_learn", numbers);
  const int64_t seed = request.integer("seed", 0, 1000000), step = request.integer("step", 0, 1000000);
  const int64_t steps = request.integer("steps", 0, kMostSteps);
  request.end();
  // At step 0 of the same training there is nothing to begin again, and what is kept stays.
  if (step == 0 && (seed != seed_of_training || translators().steps() > 0)) {
    both.reset();  // first, since memory of WebAssembly never shrinks
    both = std::make_unique<TwoTranslators>(static_cast<uint64_t>(seed));
    seed_of_training = seed;
  }
  check(translators().steps() == step, "translators_learn: the training has reached step ",
        translators().steps(), ", not ", step, "; begin again at step 0");
  std::vector<float> answer = {0};
  for (int64_t i = 0; i < steps; ++i)
    for (const double loss : translators().learn()) append(answer, loss);
  answer[0] = static_cast<float>(translators().steps());
  return answer;
}

std::vector<float> translators_keep(std::span<const float> numbers) {
  RequestReader request("translators_keep", numbers);
  const int64_t number = request.integer("number", 0, TwoTranslators::kMostKept - 1);
  request.end();
  translators().keep(number);
  return {static_cast<float>(translators().steps())};
}

std::vector<float> translators_load(std::span<const float> numbers) {
  RequestReader request("translators_load", numbers);
  const std::string bytes = request.text("bytes", kMostBytes);
  request.end();
  both.reset();
  both = std::make_unique<TwoTranslators>(kFirstSeed);
  seed_of_training = -1;
  if (!bytes.empty()) both->unpack(bytes);
  return {static_cast<float>(bytes.size())};
}

std::vector<float> translators_score(std::span<const float> numbers) {
  RequestReader request("translators_score", numbers);
  const int64_t state = state_in(request);
  request.end();
  const std::vector<LengthScore> scores = translators().score(state);
  std::vector<float> answer;
  append(answer, static_cast<double>(scores.size()));
  for (const LengthScore& score : scores)
    for (const int64_t number : {score.length, score.sentences, score.exact[0], score.exact[1]})
      append(answer, static_cast<double>(number));
  return answer;
}

std::vector<float> translators_translate(std::span<const float> numbers) {
  RequestReader request("translators_translate", numbers);
  const int64_t state = state_in(request);
  const bool attends = request.integer("attention", 0, 1);
  const Tokens source = source_of(request.text("text"));
  std::vector<std::array<int64_t, 2>> forbidden(
      static_cast<size_t>(request.integer("count of cells", 0, kMostCells)));
  for (auto& [word, key] : forbidden) {
    word = request.integer("token of the translation", 0, kMostCells);
    key = request.integer("token of the source", 0, std::max<int64_t>(0, std::ssize(source) - 1));
  }
  request.end();
  const Tokens unknown = translators().unknown(source);
  std::vector<float> answer;
  append_tokens(answer, unknown);
  if (!unknown.empty()) return answer;
  const AlignedTranslation translation = translators().translate(attends, source, forbidden, state);
  append_tokens(answer, translation.target);
  append_tokens(answer, translation.source);
  if (attends) append(answer, translation.weights);
  return answer;
}

std::string translators_packed() { return translators().packed(); }

std::vector<float> translators_learn_first() { return {kFirstSeed, 0, 1}; }
std::vector<float> translators_keep_first() { return {0}; }
std::vector<float> translators_load_first() { return {0}; }
std::vector<float> translators_score_first() { return {TwoTranslators::kPresent}; }
std::vector<float> translators_translate_first() {
  std::vector<float> request = {TwoTranslators::kPresent, 1};
  append(request, held_out_pairs()[0].source);
  append(request, 0);
  return request;
}

}  // namespace program
