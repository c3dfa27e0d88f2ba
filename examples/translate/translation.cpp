#include "examples/translate/translation.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "autograd/ops.h"
#include "examples/shared/model_file.h"
#include "nn/training/evaluation.h"
#include "tensor/table.h"
#include "tensor/utf8.h"

using namespace heed;

namespace program {
namespace {

constexpr int64_t kLongest = 100;  // tokens of a translation

// Whether a token begins with a digit or a Latin letter, as the words do that stand among Chinese characters.
bool is_latin(const std::string& token) {
  const uint32_t c = first_character(token).code, lower = c | 0x20;
  return (c >= '0' && c <= '9') || (lower >= 'a' && lower <= 'z') || (c >= 0xC0 && c < 0x250);
}

// The tokens of a sentence that are not in the vocabulary, each once; Latin ones that stand together as one.
Tokens unknown_words(const std::string& sentence, const Tokens& tokens, const Vocabulary& vocabulary) {
  Tokens all, unknown;
  size_t end = 0;
  bool open = false;  // the last one may go on
  for (const std::string& token : tokens) {
    const size_t at = sentence.find(token, end);
    const bool strange = !vocabulary.contains(token), latin = is_latin(token);
    if (strange && latin && open && at == end)
      all.back() += token;
    else if (strange)
      all.push_back(token);
    open = strange && latin;
    end = at + token.size();
  }
  for (const std::string& word : all)
    if (std::find(unknown.begin(), unknown.end(), printable(word)) == unknown.end())
      unknown.push_back(printable(word));
  return unknown;
}

// What one vocabulary calls the tokens of another: ids [size].
Tensor names_in(const Vocabulary& one, const Vocabulary& other) {
  Ids ids;
  for (int64_t id = 0; id < other.size(); ++id) ids.push_back(one.id(other.token(id)));
  check(one.size() == other.size() && std::ranges::count(ids, Vocabulary::unk) == 1,
        "models that answer together must have learned the same tokens; train them on the same file");
  return from_vector(ids, {std::ssize(ids)});
}

// -inf for tokens that must not follow these [N]: <pad>, <bos>, <unk> and, at the beginning, <eos>; 0 for the
// others: [N, words]
Tensor forbidden(const Tensor& tokens, int64_t words) {
  std::vector<float> never(static_cast<size_t>(words));
  for (const int64_t id : {Vocabulary::pad, Vocabulary::bos, Vocabulary::unk}) never[id] = -INFINITY;
  const Tensor later = from_vector(never, {words});
  never[Vocabulary::eos] = -INFINITY;
  return where(unsqueeze(tokens == Vocabulary::bos, 1), from_vector(never, {words}), later);
}

}  // namespace

Translation::Translation(TranslatorOptions options, Vocabulary source, Vocabulary target)
    : source_(std::move(source)), target_(std::move(target)), options_(std::move(options)) {
  options_.source_words = source_.size();
  options_.target_words = target_.size();
  translator_ = make_translator(options_);
}

Translation::Translation(const std::string& model, const std::string& attention,
                         const std::vector<Pair>& pairs)
    : Translation(
          TranslatorOptions{.model = model, .attention = attention, .layers = model == "transformer" ? 2 : 1},
          Vocabulary(sides(pairs, &Pair::source)), Vocabulary(sides(pairs, &Pair::target))) {}

Translation Translation::load(const std::string& path, const std::string& program) {
  const ModelFile file(path, program);
  const std::string& model = file.text("model");
  const std::vector<std::string>& known = translator_names();
  check(std::ranges::find(known, model) != known.end(), path, ": is of a model \"", model,
        "\", which this program does not know; ", program, " trains a new one");
  const std::string &attention = file.text("attention"), &source = file.text("source"),
                    &target = file.text("target");
  const TranslatorOptions options{model,
                                  attention,
                                  0,
                                  0,
                                  file.number("embedding", 1, 4096),
                                  file.number("width", 1, 4096),
                                  file.number("layers", 1, 100)};
  return file.made([&] {
    Vocabulary from = Vocabulary::from_text(source), to = Vocabulary::from_text(target);
    file.expect_weights((from.size() + to.size()) * options.embedding +
                        options.layers * options.width * options.width);
    Translation loaded(options, std::move(from), std::move(to));
    loaded.module().load_state_dict(file.tensors());
    return loaded;
  });
}

void Translation::save(const std::string& path) const {
  save_safetensors(path, module().state_dict(),
                   {{"model", options_.model},
                    {"attention", options_.attention},
                    {"embedding", std::to_string(options_.embedding)},
                    {"width", std::to_string(options_.width)},
                    {"layers", std::to_string(options_.layers)},
                    {"source", source_.to_text()},
                    {"target", target_.to_text()}});
}

Tokens Translation::source_tokens(const std::string& sentence) const {
  check_utf8("--text", sentence);
  static const Tokens marks = {"。", "？", "！", ".", "?", "!"};
  Tokens tokens = tokenise(sentence);
  while (!tokens.empty() && !source_.contains(tokens.back()) &&
         std::find(marks.begin(), marks.end(), tokens.back()) != marks.end())
    tokens.pop_back();
  check(!tokens.empty(), "--text: there is nothing to translate in \"", printable(sentence), "\"");
  check(std::ssize(tokens) <= kLongestSentence, "--text: has ", tokens.size(),
        " words or characters; a sentence has at most ", kLongestSentence);
  const Tokens unknown = unknown_words(sentence, tokens, source_);
  check(unknown.empty(), "--text: \"", printable(sentence), "\": the model has never seen ",
        detail::listed(unknown), "; it knows the ", source_.size() - 4,
        " words of its training alone (--pairs trains on others)");
  return tokens;
}

void Translation::write_onnx(const OnnxFiles& files) const {
  const Evaluation evaluation;
  const OnnxPart::Function encode = [this](const StateDict& in) {
    const Tensor& ids = in.at("source");
    return translator_->start({ids, sum(to(ids != Vocabulary::pad, int64), 1)});
  };
  const OnnxPart::Function decode = [this](const StateDict& in) {
    StateDict state = in, out;
    const Tensor token = state.extract("token").mapped();
    out["log_probabilities"] =
        log_softmax(translator_->step(token, state), -1) + forbidden(token, target_.size());
    for (const auto& [name, x] : state)
      if (!x.same_as(in.at(name))) out["next_" + name] = x;
    return out;
  };
  // Inputs of both, for sentences of these lengths and a decoder that has done some steps.
  const auto inputs = [&](const Ids& lengths, int64_t steps) {
    const auto sentence = [](int64_t length) {
      Ids ids;
      for (int64_t i = 0; i < length; ++i) ids.push_back(1 + (length + i) % 3);
      return ids;
    };
    const StateDict source{{"source", pad_batch(detail::mapped(lengths, sentence)).ids}};
    const Tensor token = select(source.at("source"), 1, 0);
    StateDict state = encode(source);
    for (int64_t t = 0; t < steps; ++t) translator_->step(token, state);
    state["token"] = token;
    return std::pair(source, state);
  };
  // No two open sizes differ by the same number.
  const auto [source, state] = inputs({5, 3}, 3);
  const auto [longer, later] = inputs({12, 4, 7}, 6);
  files.write(module(), {{"encoder", source, longer, encode}, {"decoder", state, later, decode}},
              {{"source", source_.to_text()}, {"target", target_.to_text()}});
}

Tensor Translation::loss(const std::vector<Pair>& pairs) const {
  return loss(sides(pairs, &Pair::source), sides(pairs, &Pair::target));
}

Tensor Translation::loss(const std::vector<Tokens>& sources, const std::vector<Tokens>& targets,
                         const CrossEntropyOptions& options) const {
  const TeacherForcing target = teacher_forcing(encoded(target_, targets));
  const Tensor logits = translator_->logits(pad_batch(encoded(source_, sources)), target.input);
  return sequence_loss(logits, target.labels, target.lengths, options);
}

std::vector<Tokens> Translation::translate(const std::vector<Tokens>& sources, int64_t beams) const {
  std::vector<Tokens> translations;
  for (std::vector<Answer>& answers : search(sources, {.max_length = kLongest, .width = beams}))
    translations.push_back(std::move(answers.front().tokens));
  return translations;
}

std::vector<std::vector<Answer>> Translation::search(const std::vector<Tokens>& sources,
                                                     const SearchOptions& options,
                                                     std::span<const Translation> others,
                                                     const std::function<int64_t(int64_t)>& longest) const {
  constexpr int64_t kRows = 1280;  // of a step, whatever the width
  const auto batch_size =
      static_cast<size_t>(std::max<int64_t>(1, kRows / std::max<int64_t>(1, options.width)));
  // A model that answers, and what it calls the tokens of this one's targets, [target words].
  struct Member {
    const Translation* model;
    Tensor ids;
    DecodeStep step = {};
  };
  std::vector<Member> members = {{this, names_in(target_, target_)}};
  for (const Translation& other : others) {
    names_in(other.source_, source_);
    members.push_back({&other, names_in(other.target_, target_)});
  }
  const Evaluation evaluation;

  std::vector<size_t> order(sources.size());  // sources of about one length together
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](size_t i) { return sources[i].size(); });
  std::vector<std::vector<Answer>> answers(sources.size());
  Progress progress("answering", std::ssize(order));
  for (size_t first = 0; first < order.size(); first += batch_size) {
    const auto places = std::span(order).subspan(first, std::min(batch_size, order.size() - first));
    std::vector<Tokens> some;
    for (const size_t i : places) some.push_back(sources[i]);
    for (auto& [model, ids, step] : members)
      step = model->translator_->decoder(pad_batch(encoded(model->source_, some)));
    const DecodeStep together = [&](const Tensor& tokens, const Tensor& parents) {
      std::vector<Tensor> said;
      for (auto& [model, ids, step] : members)
        said.push_back(index_select(step(index_select(ids, 0, tokens), parents), 1, ids));
      const Tensor mean = logsumexp(stack(said, 0), 0) - std::log(static_cast<double>(said.size()));
      return mean + forbidden(tokens, target_.size());
    };
    SearchOptions limited = options;
    if (longest) limited.max_length = std::min(limited.max_length, longest(std::ssize(some.back())));
    const auto found = beam_search(together, std::ssize(some), limited);
    for (size_t i = 0; i < found.size(); ++i)
      for (const Hypothesis& one : found[i])
        answers[places[i]].push_back({target_.decode(one.tokens), one.score});
    progress.step("", std::ssize(places));
  }
  return answers;
}

std::vector<AttentionMap> Translation::attention(const Tokens& source, const Tokens& target,
                                                 const std::string& title) const {
  const Evaluation evaluation;
  const TeacherForcing forced = teacher_forcing(encoded(target_, std::vector<Tokens>{target}));
  AttentionScope scope;
  translator_->logits(pad_batch(encoded(source_, std::vector<Tokens>{source})), forced.input);

  Tokens given = target, answered = target;
  given.insert(given.begin(), "<bos>");
  answered.emplace_back("<eos>");
  const std::string sentence = title.empty() ? join(source) + " → " + join(target) : title;
  std::vector<AttentionMap> maps;
  for (const CapturedAttention& call : scope.calls()) {
    if (call.step > 0) continue;  // of a decoder that goes token by token: all are stacked at the first
    const bool to_itself = call.module.find("self_attn") != std::string::npos;
    const bool reads = call.module.find("encoder") != std::string::npos;
    const Tokens& queries = reads ? source : to_itself ? given : answered;
    maps.emplace_back(
        stacked_steps(scope, call.module), queries, to_itself ? queries : source,
        AttentionMapOptions{.sentence = sentence,
                            .module = call.module,
                            .mask = to_itself && !reads ? Mask::causal(std::ssize(given)) : Mask()});
  }
  return maps;
}

AttentionMap Translation::alignment(const Tokens& source, const Tokens& target,
                                    const std::string& title) const {
  for (const AttentionMap& map : attention(source, target, title))
    if (map.module == translator_->alignment_module())
      return AttentionMap(mean(map.weights, 0), map.queries, map.keys,
                          {.sentence = map.sentence, .module = map.module});
  fail("a model without attention has no alignment");
}

StepRecord descend(Training& training, const Translation& translation, const std::vector<Tokens>& sources,
                   const std::vector<Tokens>& targets, const std::vector<int64_t>& batch,
                   const CrossEntropyOptions& options) {
  const auto loss = [&](int64_t from, int64_t to) {
    std::vector<Tokens> some_sources, some_targets;
    int64_t words = 0;
    for (int64_t row = from; row < to; ++row) {
      const auto i = static_cast<size_t>(batch[static_cast<size_t>(row)]);
      some_sources.push_back(sources[i]);
      some_targets.push_back(targets[i]);
      words += std::ssize(targets[i]) + 1;
    }
    return ShardLoss{translation.loss(some_sources, some_targets, options), words};
  };
  int64_t words = 0;
  for (const int64_t i : batch) words += std::ssize(targets[static_cast<size_t>(i)]) + 1;
  return training.descend(std::ssize(batch), loss, words);
}

}  // namespace program
