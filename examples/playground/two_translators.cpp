#include "examples/playground/two_translators.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "examples/translate/grammar.h"

namespace program {

using namespace heed;

namespace {

constexpr int64_t kEmbedding = 32, kWidth = 32, kBatch = 32, kLongestAnswer = 16, kBlock = 64;
// The learning rate falls along a line, from the first to the least in so many steps.
constexpr double kFirstRate = 1e-2, kLeastRate = 1e-3;
constexpr double kFall = 800;

Split sentences_of(uint64_t seed) {
  Generator random(seed);
  return split(generate_corpus(random), seed);
}

std::vector<int64_t> lengths_of(const std::vector<Ids>& sentences) {
  std::vector<int64_t> lengths;
  for (const Ids& ids : sentences) lengths.push_back(std::ssize(ids));
  return lengths;
}

SmallTranslator untrained(uint64_t seed, int64_t source_words, int64_t target_words, bool attends) {
  manual_seed(seed);
  return SmallTranslator(source_words, target_words, attends);
}

}  // namespace

SmallTranslator::SmallTranslator(int64_t source_words, int64_t target_words, bool attends)
    : source_(source_words, kEmbedding, {.padding_idx = Vocabulary::pad}),
      target_(target_words, kEmbedding, {.padding_idx = Vocabulary::pad}),
      encoder_(kEmbedding, kWidth / 2, {.batch_first = true, .bidirectional = true}),
      bridge_(kWidth, kWidth),
      decoder_(kEmbedding, kWidth, {.batch_first = true}),
      join_(2 * kWidth, kWidth),
      output_(kWidth, target_words) {
  if (attends) attention_.emplace(AdditiveScore(kWidth, kWidth, kWidth));
}

SmallTranslator::Source SmallTranslator::encode(const PaddedBatch& batch) const {
  const auto [states, last] =
      encoder_(source_(batch.ids), Tensor(), batch.lengths);                 // [B, S, H], [2, B, H/2]
  const Tensor summary = cat({select(last, 0, 0), select(last, 0, 1)}, -1);  // [B, H]
  return {states, summary, tanh(bridge_(summary)), Mask::lengths(batch.lengths, batch.ids.size(1))};
}

SmallTranslator::Step SmallTranslator::decode(const Source& from, const Tensor& state, const Tensor& tokens,
                                              const Mask& allowed) const {
  const auto [s, last] = decoder_(target_(tokens), state);  // [B, T, H]
  Tensor context = expand(unsqueeze(from.summary, 1), s.shape()), weights;
  if (attention_) {
    const AttentionResult attended = (*attention_)(s, from.states, from.mask & allowed);
    context = attended.output;
    weights = attended.weights;
  }
  return {output_(tanh(join_(cat({s, context}, -1)))), last, weights};
}

Tensor SmallTranslator::forward(const PaddedBatch& batch, const Tensor& input) const {
  const Source from = encode(batch);
  return decode(from, unsqueeze(from.start, 0), input).logits;
}

DecodeStep SmallTranslator::decoder(const PaddedBatch& batch) const {
  Source first = encode(batch);
  Tensor begin = unsqueeze(first.start, 0);
  return [this, from = std::move(first), state = std::move(begin)](const Tensor& tokens,
                                                                   const Tensor& parents) mutable {
    from = {index_select(from.states, 0, parents), index_select(from.summary, 0, parents),
            index_select(from.start, 0, parents), index_select(from.mask, 0, parents)};
    const Step step = decode(from, index_select(state, 1, parents), unsqueeze(tokens, 1));
    state = step.state;
    return log_softmax(squeeze(step.logits, 1), -1);
  };
}

void SmallTranslator::visit(Visitor& v) {
  v("source", source_);
  v("target", target_);
  v("encoder", encoder_);
  v("bridge", bridge_);
  v("decoder", decoder_);
  v("attention", attention_);
  v("join", join_);
  v("output", output_);
}

TwoTranslators::Learner::Learner(uint64_t seed, int64_t source_words, int64_t target_words, bool attends)
    : model(untrained(seed, source_words, target_words, attends)),
      optimizer(model.parameters(), {.lr = kFirstRate}) {}

TwoTranslators::TwoTranslators(uint64_t seed)
    : sentences_(sentences_of(seed)),
      source_(sides(sentences_.train, &Pair::source)),
      target_(sides(sentences_.train, &Pair::target)),
      sources_(encoded(source_, sides(sentences_.train, &Pair::source))),
      targets_(encoded(target_, sides(sentences_.train, &Pair::target))),
      learners_{{seed, source_.size(), target_.size(), false}, {seed, source_.size(), target_.size(), true}},
      batches_(lengths_of(sources_), kBatch, Generator(seed, 1)) {}

std::array<double, 2> TwoTranslators::learn() {
  std::vector<Ids> sources, targets;
  for (const int64_t i : batches_.next()) {
    sources.push_back(sources_[static_cast<size_t>(i)]);
    targets.push_back(targets_[static_cast<size_t>(i)]);
  }
  const PaddedBatch batch = pad_batch(sources);
  const TeacherForcing target = teacher_forcing(targets);
  const double rate = std::max(kLeastRate, kFirstRate * (1 - static_cast<double>(steps_) / kFall));
  std::array<double, 2> losses;
  for (size_t which = 0; which < 2; ++which) {
    auto& [model, optimizer] = learners_[which];
    const Tensor loss = sequence_loss(model(batch, target.input), target.labels, target.lengths);
    losses[which] = loss.item();
    optimizer.zero_grad();
    loss.backward();
    clip_grad_norm_(model.parameters(), 1);
    optimizer.set_lr(rate);
    optimizer.step();
  }
  ++steps_;
  return losses;
}

void TwoTranslators::keep(int64_t number) {
  check(0 <= number && number < kMostKept, "a state is kept under a number from 0 to ", kMostKept - 1,
        ", not ", number);
  kept_.insert_or_assign(number, Models{learners_[0].model, learners_[1].model});
}

const SmallTranslator& TwoTranslators::model(bool attends, int64_t state) const {
  if (state == kPresent) return learners_[attends].model;
  const auto kept = kept_.find(state);
  check(kept != kept_.end(), "there is no kept state ", state);
  return kept->second[attends];
}

AlignedTranslation TwoTranslators::translate(bool attends, const Tokens& source,
                                             const std::vector<std::array<int64_t, 2>>& forbidden,
                                             int64_t state) const {
  const auto length = std::ssize(source);
  check(length > 0 && source.size() <= kLongestSource, "a sentence has 1 to ", kLongestSource,
        " words or characters, not ", length);
  check(unknown(source).empty(), "the translators have never seen \"", join(unknown(source)), "\"");
  const Evaluation evaluation;
  const SmallTranslator& translator = model(attends, state);
  const SmallTranslator::Source from = translator.encode(pad_batch({source_.encode(source)}));
  AlignedTranslation translation{source, {}, {}};
  std::vector<Tensor> rows;
  Tensor last = unsqueeze(from.start, 0);
  int64_t token = Vocabulary::bos;
  for (int64_t i = 0; i < kLongestAnswer && token != Vocabulary::eos; ++i) {
    std::vector<bool> allowed(source.size(), true);
    for (const auto& [word, key] : forbidden) {
      check(0 <= key && key < length, "the source has no word ", key);
      if (word == i) allowed[static_cast<size_t>(key)] = false;
    }
    const Tensor input = full({1, 1}, static_cast<double>(token), int64);
    const SmallTranslator::Step step =
        translator.decode(from, last, input, from_vector(allowed, {1, 1, length}));
    last = step.state;
    token = argmax(step.logits, -1).item<int64_t>();
    translation.target.push_back(target_.token(token));
    if (attends) rows.push_back(reshape(step.weights, {length}));
  }
  if (attends) translation.weights = stack(rows, 0);
  return translation;
}

std::vector<LengthScore> TwoTranslators::score(int64_t state) const {
  std::map<int64_t, std::vector<Pair>> by_length;
  for (const Pair& pair : sentences_.test) by_length[std::ssize(tokenise(pair.source))].push_back(pair);
  const Evaluation evaluation;
  std::vector<LengthScore> scores;
  for (const auto& [length, pairs] : by_length) {
    LengthScore score{length, std::ssize(pairs), {}};
    const PaddedBatch batch = pad_batch(encoded(source_, sides(pairs, &Pair::source)));
    const std::vector<Tokens> references = sides(pairs, &Pair::target);
    for (const bool attends : {false, true}) {
      const std::vector<Ids> answers =
          greedy_search(model(attends, state).decoder(batch), score.sentences, kLongestAnswer);
      for (size_t i = 0; i < answers.size(); ++i)
        score.exact[attends] += target_.decode(answers[i]) == references[i];
    }
    scores.push_back(score);
  }
  return scores;
}

std::vector<Tensor> TwoTranslators::parameters() const {
  std::vector<Tensor> all;
  for (const Learner& learner : learners_)
    for (const Tensor& p : learner.model.parameters()) all.push_back(p);
  return all;
}

std::string TwoTranslators::packed() const {
  std::vector<float> numbers;
  for (const Tensor& p : parameters())
    for (const float number : p.to_vector<float>()) numbers.push_back(number);
  std::string bytes;
  for (size_t at = 0; at < numbers.size(); at += kBlock) {
    const std::span block = std::span(numbers).subspan(at, std::min<size_t>(kBlock, numbers.size() - at));
    float largest = 1e-30F;
    for (const float number : block) largest = std::max(largest, std::abs(number));
    bytes.append(reinterpret_cast<const char*>(&largest), sizeof largest);
    for (const float number : block)
      bytes += static_cast<char>(static_cast<int8_t>(std::lround(number / largest * 127)));
  }
  return bytes;
}

void TwoTranslators::unpack(std::string_view bytes) {
  std::vector<float> numbers;
  float largest = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    if (at % (kBlock + sizeof largest) == 0) {
      check(bytes.size() - at > sizeof largest, "packed translators end too early");
      std::memcpy(&largest, bytes.data() + at, sizeof largest);
      at += sizeof largest;
    }
    numbers.push_back(static_cast<float>(static_cast<int8_t>(bytes[at])) * largest / 127);
  }
  const std::vector<Tensor> all = parameters();
  int64_t count = 0, at = 0;
  for (const Tensor& p : all) count += p.numel();
  check(count == std::ssize(numbers), "packed translators have ", numbers.size(), " numbers, and these have ",
        count);
  const NoGrad guard;
  const Tensor values = from_vector(numbers, {count});
  for (Tensor p : all) {
    copy_(p, reshape(narrow(values, 0, at, p.numel()), p.shape()));
    at += p.numel();
  }
}

Tokens TwoTranslators::unknown(const Tokens& source) const {
  Tokens unknown;
  for (const std::string& token : source)
    if (!source_.contains(token) && std::ranges::count(unknown, token) == 0) unknown.push_back(token);
  return unknown;
}

}  // namespace program
