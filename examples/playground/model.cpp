#include "examples/playground/model.h"

#include <heed.h>
#include <heed/text.h>

#include <cmath>
#include <map>
#include <memory>

#include "examples/playground/message.h"
#include "examples/translate/grammar.h"
#include "nn/view/capture.h"

namespace program {

using namespace heed;

namespace {

constexpr int64_t kModelWidth = 48, kModelHeads = 4, kModelLayers = 2, kSeenCharacters = 48, kWindows = 8;
constexpr int64_t kLeastCharacters = 600, kMostDifferent = 1000, kSampleSentences = 100;
constexpr double kModelRate = 3e-3;

// A decoder-only transformer, as examples/tour/06_language_model.cpp.
struct CharacterModel : Layer<CharacterModel> {
  explicit CharacterModel(int64_t characters)
      : embedding(characters, kModelWidth),
        decoder(kModelWidth, kModelHeads, kModelLayers,
                {.dim_feedforward = 4 * kModelWidth,
                 .dropout = 0,
                 .activation = Activation::gelu,
                 .norm_first = true,
                 .rotary = true,
                 .final_norm = true}),
        output(kModelWidth, characters) {}
  // [B, T] -> logits of the next characters [B, T, V].
  Tensor forward(const Tensor& characters) const {
    return output(decoder(embedding(characters), AttentionOptions{.is_causal = true}));
  }
  void visit(Visitor& v) override {
    v("embedding", embedding);
    v("decoder", decoder);
    v("output", output);
  }

  Embedding embedding;
  TransformerEncoder decoder;
  Linear output;
};

// The characters of a text: each different one once, and the text as their numbers.
struct NumberedText {
  std::vector<std::string> characters;
  std::map<std::string, int64_t> numbers;
  Ids text;

  explicit NumberedText(const std::string& whole) {
    check_utf8("the text", whole);
    for_each_character(whole, [&](uint32_t, std::string_view bytes) {
      const auto [known, is_new] = numbers.emplace(bytes, std::ssize(characters));
      if (is_new) characters.emplace_back(bytes);
      text.push_back(known->second);
    });
  }
  // The numbers of what is known in a text.
  Ids known(const std::string& part) const {
    Ids ids;
    for_each_character(part, [&](uint32_t, std::string_view bytes) {
      if (const auto found = numbers.find(std::string(bytes)); found != numbers.end())
        ids.push_back(found->second);
    });
    return ids;
  }
};

CharacterModel untrained_model(uint64_t seed, int64_t characters) {
  manual_seed(seed);
  return CharacterModel(characters);
}

struct OwnModel {
  OwnModel(uint64_t seed, NumberedText of)
      : text(std::move(of)),
        model(untrained_model(seed, std::ssize(text.characters))),
        optimizer(model.parameters(), {.lr = kModelRate}),
        places(seed, 1) {
    const Tensor all = from_vector(text.text, {std::ssize(text.text)});
    const int64_t held_out = all.numel() / 10;
    learned = narrow(all, 0, 0, all.numel() - held_out);
    unseen = narrow(all, 0, all.numel() - held_out, held_out);
  }

  // Bits per character: each window predicts all its characters but the first.
  Tensor bits(const std::vector<Tensor>& windows) const {
    const Tensor window = stack(windows);  // [B, T + 1]
    const Tensor logits = model(narrow(window, 1, 0, kSeenCharacters));
    return F::cross_entropy(logits, narrow(window, 1, 1, kSeenCharacters), {.class_dim = -1}) / std::log(2.0);
  }
  double learn() {
    std::vector<Tensor> windows;
    for (int64_t i = 0; i < kWindows; ++i)
      windows.push_back(
          narrow(learned, 0, places.integer(0, learned.numel() - kSeenCharacters), kSeenCharacters + 1));
    const Tensor loss = bits(windows);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    ++steps;
    return loss.item();
  }
  // Of the held-out text, in windows one after another.
  double unseen_bits() const {
    const Evaluation evaluation;
    std::vector<Tensor> windows;
    for (int64_t begin = 0; begin + kSeenCharacters < unseen.numel() && std::ssize(windows) < 4 * kWindows;
         begin += kSeenCharacters)
      windows.push_back(narrow(unseen, 0, begin, kSeenCharacters + 1));
    return bits(windows).item();
  }

  NumberedText text;
  CharacterModel model;
  Adam optimizer;
  Generator places;
  Tensor learned, unseen;
  int64_t steps = 0;
};

std::unique_ptr<OwnModel> own_model;

OwnModel& begun_model() {
  check(own_model != nullptr, "there is no model yet; begin one with a text");
  return *own_model;
}

}  // namespace

std::vector<float> model_sample(std::span<const float> numbers) {
  RequestReader request("model_sample", numbers);
  const bool is_chinese = request.integer("language", 0, 1) == 1;
  request.end();
  Generator generator(1);
  std::string text;
  for (const Pair& pair : generate_corpus(generator, kSampleSentences))
    text += (is_chinese ? pair.source : pair.target) + "\n";
  std::vector<float> answer;
  append(answer, text);
  return answer;
}

std::vector<float> model_begin(std::span<const float> numbers) {
  RequestReader request("model_begin", numbers);
  const int64_t seed = request.integer("seed", 0, 1000000);
  NumberedText text(request.text("text"));
  request.end();
  check(std::ssize(text.text) >= kLeastCharacters, "the text has ", text.text.size(),
        " characters; the model needs at least ", kLeastCharacters);
  check(std::ssize(text.characters) <= kMostDifferent, "the text has ", text.characters.size(),
        " different characters; ", kMostDifferent, " are the limit");
  own_model.reset();  // first, since memory of WebAssembly never shrinks
  own_model = std::make_unique<OwnModel>(static_cast<uint64_t>(seed), std::move(text));
  int64_t parameters = 0;
  for (const Tensor& p : own_model->model.parameters()) parameters += p.numel();
  return {static_cast<float>(own_model->text.text.size()),
          static_cast<float>(own_model->text.characters.size()), static_cast<float>(parameters)};
}

std::vector<float> model_learn(std::span<const float> numbers) {
  RequestReader request("model_learn", numbers);
  const int64_t step = request.integer("step", 0, 1000000), steps = request.integer("steps", 0, 100);
  request.end();
  if (step == 0 && begun_model().steps > 0)
    own_model = std::make_unique<OwnModel>(own_model->places.seed(), std::move(own_model->text));
  OwnModel& own = begun_model();
  check(own.steps == step, "model_learn: the training has reached step ", own.steps, ", not ", step,
        "; begin again at step 0");
  std::vector<float> answer = {0};
  append(answer, own.unseen_bits());
  for (int64_t i = 0; i < steps; ++i) append(answer, own.learn());
  answer[0] = static_cast<float>(own.steps);
  return answer;
}

std::vector<float> model_write(std::span<const float> numbers) {
  RequestReader request("model_write", numbers);
  const int64_t seed = request.integer("seed", 0, 1000000);
  const double temperature = request.number("temperature");
  const int64_t count = request.integer("count", 1, 400);
  const std::string beginning = request.text("beginning");
  request.end();
  const OwnModel& own = begun_model();
  Ids ids = own.text.known(beginning);
  if (ids.empty()) ids = own.text.known("\n");
  if (ids.empty()) ids = {own.text.text[0]};

  const Evaluation evaluation;
  Generator generator(static_cast<uint64_t>(seed));
  std::vector<float> weights;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t seen = std::min(std::ssize(ids), static_cast<std::ptrdiff_t>(kSeenCharacters));
    const Tensor input = from_vector(Ids(ids.end() - seen, ids.end()), {1, seen});
    AttentionScope attention;
    const Tensor logits = own.model(input);  // [1, T, V]
    ids.push_back(sample(select(select(logits, 0, 0), 0, seen - 1), generator, {.temperature = temperature}));
    append(weights, static_cast<double>(seen));
    append(weights,
           mean(select(select(attention.calls().back().weights, 0, 0), 1, seen - 1), 0));  // [H, T] -> [T]
  }
  std::vector<float> answer;
  append(answer, static_cast<double>(ids.size()));
  for (const int64_t id : ids) append(answer, own.text.characters[static_cast<size_t>(id)]);
  answer.insert(answer.end(), weights.begin(), weights.end());
  return answer;
}

std::vector<float> model_sample_first() { return {0}; }

std::vector<float> model_begin_first() {
  std::vector<float> request = {1};
  for (const float number : model_sample(model_sample_first())) request.push_back(number);
  return request;
}

std::vector<float> model_learn_first() { return {0, 1}; }

std::vector<float> model_write_first() {
  std::vector<float> request = {1, 0.7F, 12};
  append(request, "I ");
  return request;
}

}  // namespace program
