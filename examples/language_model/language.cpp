#include "examples/language_model/language.h"

#include <algorithm>
#include <cmath>

#include "autograd/ops/loss.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/shape.h"
#include "examples/shared/model_file.h"
#include "examples/shared/program.h"
#include "nn/training/evaluation.h"
#include "nn/view/capture.h"
#include "tensor/utf8.h"

using namespace heed;

namespace program {

void LanguageOptions::check() const {
  check_range("--width", width, 2, 4096);
  check_range("--layers", layers, 1, 100);
  heed::check(heads >= 1 && width % heads == 0 && width / heads % 2 == 0, "--heads is ", heads, ", --width ",
              width, "; the width must divide into heads of one even width");
  check_range("--context", context, 2, 4096);
  heed::check(dropout >= 0 && dropout < 1, "--dropout is ", dropout, "; it must be from 0 and below 1");
}

// The output is tied to the embedding, so that is small at first: large logits would be wrong.
LanguageNet::LanguageNet(int64_t tokens, const LanguageOptions& options)
    : dropout(options.dropout),
      embedding(init::normal({tokens, options.width}, 0, 0.02)),
      encoder(options.width, options.heads, options.layers,
              {.dim_feedforward = 4 * options.width,
               .dropout = options.dropout,
               .attention_dropout = 0,
               .activation = Activation::gelu,
               .norm_first = true,
               .rotary = true,
               .final_norm = true}) {}

Tensor LanguageNet::forward(const Tensor& ids, EncoderCache* cache) const {
  const Tensor x = F::dropout(embedding(ids), dropout, training());
  return linear(encoder(x, AttentionOptions{.is_causal = true}, cache), embedding.weight);
}

void LanguageNet::visit(Visitor& v) {
  v("embedding", embedding);
  v("encoder", encoder);
}

Language::Language(TextTokens tokens, const LanguageOptions& options)
    : tokens_(std::move(tokens)), options_(options) {
  options.check();
  net_ = std::make_unique<LanguageNet>(tokens_.size(), options);
}

Language Language::load(const std::string& path, const std::string& program) {
  const ModelFile file(path, program);
  const std::string &kind = file.text("tokens"), &known = file.text("known");
  const LanguageOptions options{file.number("width", 2, 4096), file.number("layers", 1, 100),
                                file.number("heads", 1, 4096), file.number("context", 2, 4096)};
  return file.made([&] {
    TextTokens tokens = TextTokens::from_text(kind, known);
    file.expect_weights((tokens.size() + options.layers * options.width) * options.width);
    Language loaded(std::move(tokens), options);
    loaded.net_->load_state_dict(file.tensors());
    return loaded;
  });
}

void Language::save(const std::string& path) const {
  save_safetensors(path, net_->state_dict(),
                   {{"tokens", tokens_.kind()},
                    {"known", tokens_.to_text()},
                    {"width", std::to_string(options_.width)},
                    {"layers", std::to_string(options_.layers)},
                    {"heads", std::to_string(options_.heads)},
                    {"context", std::to_string(options_.context)}});
}

void Language::write_onnx(const OnnxFiles& files) const {
  const auto name = [](const char* what, int64_t layer) { return what + ("_" + std::to_string(layer)); };
  const OnnxPart::Function step = [&](const StateDict& in) {
    EncoderCache cache;
    for (int64_t i = 0; i < options_.layers; ++i)
      cache.layers.emplace_back().append(in.at(name("key", i)), in.at(name("value", i)));
    const Tensor logits = (*net_)(in.at("tokens"), &cache);  // [B, T, V]
    StateDict out{{"log_probabilities", log_softmax(select(logits, 1, logits.size(1) - 1), -1)}};
    for (int64_t i = 0; i < options_.layers; ++i) {
      out[name("next_key", i)] = cache.layers[static_cast<size_t>(i)].keys();
      out[name("next_value", i)] = cache.layers[static_cast<size_t>(i)].values();
    }
    return out;
  };
  const auto inputs = [&](int64_t rows, int64_t count, int64_t length) {
    Generator random(1);
    StateDict in{{"tokens", randint(0, tokens_.size(), {rows, count}, &random)}};
    for (int64_t i = 0; i < options_.layers; ++i)
      for (const char* what : {"key", "value"})
        in[name(what, i)] =
            randn({rows, options_.heads, length, options_.width / options_.heads}, float32, &random);
    return in;
  };
  std::map<std::string, std::string> metadata = tokens_.description();
  metadata["context"] = std::to_string(options_.context);
  // No two open sizes differ by the same number.
  files.write(*net_, {{"", inputs(2, 3, 5), inputs(3, 6, 12), step}}, metadata);
}

Tensor Language::loss(const Tensor& windows) const {
  const int64_t length = windows.size(1) - 1;
  const Tensor logits = (*net_)(narrow(windows, 1, 0, length));
  return softmax_cross_entropy(logits, narrow(windows, 1, 1, length));
}

double Language::bits(const Ids& ids) const {
  if (ids.empty()) return 0;
  constexpr int64_t kBatch = 16;
  const Evaluation evaluation;
  const int64_t context = options_.context, half = context / 2, last = std::ssize(ids) - 1;
  double nats = std::log(static_cast<double>(tokens_.size()));
  // Windows begin half a context apart, and each tells of what those before it did not; what is behind the
  // text does not count.
  for (int64_t begin = 0; begin < last; begin += kBatch * half) {
    Ids inputs, answers;
    int64_t rows = 0;
    for (int64_t first = begin; rows < kBatch && (first == 0 || first + context - half < last);
         first += half, ++rows)
      for (int64_t t = first; t < first + context; ++t) {
        const bool counts = t < last && (first == 0 || t >= first + context - half);
        inputs.push_back(ids[static_cast<size_t>(std::min(t, last))]);
        answers.push_back(counts ? ids[static_cast<size_t>(t) + 1] : -100);
      }
    if (rows == 0) break;
    const Shape shape{rows, context};
    nats += softmax_cross_entropy((*net_)(from_vector(inputs, shape)), from_vector(answers, shape),
                                  {.reduction = Reduction::sum})
                .item();
  }
  return nats / std::log(2.0) + tokens_.unknown_bits(ids);
}

Writer::Writer(const Language& language, const Ids& prompt, bool cached, bool attends)
    : language_(language), cached_(cached), attends_(attends), all_(prompt) {
  check(!all_.empty(), "there is nothing to write on from");
}

Tensor Writer::logits(Tensor ids) {
  const auto& net = language_.net();
  if (!attends_) return net(ids, &cache_);
  AttentionScope scope;
  Tensor y = net(ids, &cache_);
  Step step{{}, first_};
  for (const CapturedAttention& call : scope.calls())
    step.weights.push_back(clone(select(select(call.weights, 0, 0), 1, call.weights.size(-2) - 1)));
  steps_.push_back(std::move(step));
  if (std::ssize(steps_) > kRemembered) steps_.pop_front();
  return y;
}

int64_t Writer::next(Generator& generator, const SampleOptions& options) {
  const Evaluation evaluation;
  const int64_t context = language_.options().context, count = std::ssize(all_);
  if (count - first_ > context) {
    first_ = count - (context + 1) / 2;
    cache_ = {};
  }
  if (!cached_) cache_ = {};
  const Ids unread(all_.begin() + first_ + cache_.length(), all_.end());
  const Tensor y = logits(from_vector(unread, {1, std::ssize(unread)}));  // [1, T, V]
  all_.push_back(sample(select(select(y, 0, 0), 0, std::ssize(unread) - 1), generator, options));
  return all_.back();
}

std::vector<AttentionMap> Writer::attention() const {
  std::vector<AttentionMap> maps;
  if (steps_.empty()) return maps;
  const auto name = [&](int64_t i) {
    return printable(language_.tokens().token(all_[static_cast<size_t>(i)]));
  };
  const int64_t count = std::ssize(all_), written = count - std::ssize(steps_);
  const int64_t begin = std::max<int64_t>(0, count - 1 - kRemembered), keys = count - 1 - begin;
  Tokens read, wrote;
  for (int64_t i = begin; i < count - 1; ++i) read.push_back(name(i));
  for (int64_t i = written; i < count; ++i) wrote.push_back(name(i));
  for (size_t layer = 0; layer < steps_.front().weights.size(); ++layer) {
    std::vector<Tensor> rows, seen;  // [H, keys], 0 for what the step did not see, and [keys]
    for (const Step& step : steps_) {
      const Tensor& row = step.weights[layer];
      const int64_t from = std::max(begin, step.first), end = step.first + row.size(-1);
      const std::vector<int64_t> around = {from - begin, begin + keys - end};
      rows.push_back(pad(narrow(row, 1, from - step.first, end - from), around));
      seen.push_back(pad(ones({end - from}, boolean), around));
    }
    maps.emplace_back(stack(rows, 1), wrote, read,
                      AttentionMapOptions{.module = "encoder.layers." + std::to_string(layer) + ".self_attn",
                                          .heads = true,
                                          .mask = stack(seen)});
  }
  return maps;
}

}  // namespace program
