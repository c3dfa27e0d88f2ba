#include "examples/translation.h"

#include <algorithm>
#include <cstdio>

#include "autograd/ops/reduce.h"
#include "nn/safetensors.h"
#include "nn/table.h"
#include "nn/text/sequence_loss.h"
#include "nn/text/utf8.h"

using namespace heed;

namespace program {
namespace {

constexpr int64_t kLongest = 100;  // tokens of a translation

std::vector<Tokens> sides(const std::vector<Pair>& pairs, std::string Pair::*side) {
  std::vector<Tokens> all;
  for (const Pair& pair : pairs) all.push_back(tokenise(pair.*side));
  return all;
}

std::vector<Ids> encoded(const Vocabulary& vocabulary, const std::vector<Tokens>& sentences) {
  std::vector<Ids> all;
  for (const Tokens& tokens : sentences) all.push_back(vocabulary.encode(tokens));
  return all;
}

// While it exists the module is in evaluation and nothing is recorded.
class Asking {
 public:
  explicit Asking(Module& module) : module_(module), training_(module.training()) { module.eval(); }
  ~Asking() { module_.train(training_); }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

 private:
  Module& module_;
  bool training_;
  NoGrad guard_;
};

const std::string& required(const Metadata& metadata, const std::string& path, const std::string& name) {
  const auto it = metadata.find(name);
  check(it != metadata.end(), path, ": has no \"", name,
        "\" in its metadata; it was not written by translate");
  return it->second;
}

// Control characters, joiners, marks of direction and the like; no reader sees them, and terminals obey some.
bool is_hidden(uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xAD || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || (c >= 0xE000 && c <= 0xF8FF) ||
         (c >= 0xFE00 && c <= 0xFE0F) || c == 0xFEFF || (c >= 0xFFF0 && c <= 0xFFFB) || c >= 0xE0000;
}

// The text as messages show it: hidden characters as U+200B.
std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const auto [code, size] = first_character(text);
    char number[16];
    std::snprintf(number, sizeof number, "U+%04X", static_cast<unsigned>(code));
    shown += is_hidden(code) ? std::string(number) : std::string(text.substr(0, size));
    text.remove_prefix(size);
  }
  return shown;
}

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

}  // namespace

Translation::Translation(TranslatorOptions options, Vocabulary source, Vocabulary target)
    : source_(std::move(source)), target_(std::move(target)), options_(std::move(options)) {
  options_.source_words = source_.size();
  options_.target_words = target_.size();
  translator_ = make_translator(options_);
}

Translation::Translation(const std::string& model, const std::string& attention,
                         const std::vector<Pair>& pairs)
    : Translation(TranslatorOptions{model, attention, 0, 0}, Vocabulary(sides(pairs, &Pair::source)),
                  Vocabulary(sides(pairs, &Pair::target))) {}

Translation Translation::load(const std::string& path) {
  const Safetensors file = [&] {
    try {
      return load_safetensors(path);
    } catch (const Error& error) {
      fail(error.what(), "; translate without --text trains a model anew");
    }
  }();
  const auto& [tensors, metadata] = file;
  const auto text = [&](const std::string& name) { return required(metadata, path, name); };
  const std::string& model = required(metadata, path, "model");
  check(model == "rnn" || model == "attention" || model == "transformer", path, ": is of a model \"", model,
        "\", which translate does not know; train one anew");
  const std::string attention = text("attention"), source = text("source"), target = text("target");
  try {
    Translation loaded({model, attention, 0, 0}, Vocabulary::from_text(source),
                       Vocabulary::from_text(target));
    loaded.module().load_state_dict(tensors);
    return loaded;
  } catch (const Error& error) {
    fail(path, ": is damaged: ", error.what(), "; translate without --text trains a model anew");
  }
}

void Translation::save(const std::string& path) const {
  save_safetensors(path, module().state_dict(),
                   {{"model", options_.model},
                    {"attention", options_.attention},
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

Tensor Translation::loss(const std::vector<Pair>& pairs) const {
  const PaddedBatch source = pad_batch(encoded(source_, sides(pairs, &Pair::source)));
  const TeacherForcing target = teacher_forcing(encoded(target_, sides(pairs, &Pair::target)));
  return sequence_loss(translator_->logits(source, target.input), target.labels, target.lengths);
}

std::vector<Tokens> Translation::translate(const std::vector<Tokens>& sources, int64_t beams) const {
  constexpr size_t kBatch = 256;
  const Asking asking(module());
  std::vector<Tokens> translations;
  for (size_t first = 0; first < sources.size(); first += kBatch) {
    const std::vector<Tokens> some(
        sources.begin() + static_cast<long>(first),
        sources.begin() + static_cast<long>(std::min(first + kBatch, sources.size())));
    const DecodeStep step = translator_->decoder(pad_batch(encoded(source_, some)));
    for (const auto& best : beam_search(step, std::ssize(some), {.max_length = kLongest, .width = beams}))
      translations.push_back(target_.decode(best.front().tokens));
  }
  return translations;
}

std::vector<AttentionMap> Translation::attention(const Tokens& source, const Tokens& target) const {
  const Asking asking(module());
  const TeacherForcing forced = teacher_forcing(encoded(target_, std::vector<Tokens>{target}));
  AttentionScope scope;
  translator_->logits(pad_batch(encoded(source_, std::vector<Tokens>{source})), forced.input);

  Tokens given = target, answered = target;
  given.insert(given.begin(), "<bos>");
  answered.emplace_back("<eos>");
  const std::string sentence = join(source) + " → " + join(target);
  std::vector<AttentionMap> maps;
  for (const CapturedAttention& call : scope.calls()) {
    const bool to_itself = call.module.find("self_attn") != std::string::npos;
    const bool reads = call.module.find("encoder") != std::string::npos;
    const Tokens& queries = reads ? source : to_itself ? given : answered;
    maps.emplace_back(call.weights, queries, to_itself ? queries : source,
                      AttentionMapOptions{.sentence = sentence, .module = call.module, .step = call.step});
  }
  return maps;
}

AttentionMap Translation::alignment(const Tokens& source, const Tokens& target) const {
  for (const AttentionMap& map : attention(source, target))
    if (map.module == translator_->alignment_module())
      return AttentionMap(mean(map.weights, 0), map.queries, map.keys,
                          {.sentence = map.sentence, .module = map.module});
  fail("a model without attention has no alignment");
}

}  // namespace program
