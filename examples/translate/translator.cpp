#include "examples/translate/translator.h"

#include <heed.h>
#include <heed/text.h>

#include <cmath>
#include <optional>

using namespace heed;

namespace program {
namespace {

Embedding word_table(int64_t words, int64_t width) {
  return Embedding(words, width, {.padding_idx = Vocabulary::pad});
}

// What all recurrent translators have in common: the words of both languages, and an encoder.
//
//   encoder    h_1 .. h_S = a GRU in both directions over the source; c its last states
//   bridge     where the decoder starts: tanh(B c)
class RecurrentTranslator : public Layer<RecurrentTranslator>, public Translator {
 public:
  explicit RecurrentTranslator(const TranslatorOptions& options)
      : source(word_table(options.source_words, options.embedding)),
        target(word_table(options.target_words, options.embedding)),
        encoder(options.embedding, options.width / 2,
                {.num_layers = options.layers,
                 .batch_first = true,
                 .dropout = options.layer_dropout,
                 .bidirectional = true}),
        bridge(options.width, options.width),
        dropout(options.dropout) {}

  virtual Tensor forward(const PaddedBatch& batch, const Tensor& input) = 0;
  Module& module() override { return *this; }
  Tensor logits(const PaddedBatch& batch, const Tensor& input) override { return (*this)(batch, input); }

  // memory [B, S, H]: h;  lengths [B];  summary [B, H]: c;  state [B, H]: where the decoder is
  StateDict start(const PaddedBatch& batch) override {
    const auto [states, last] = encoder(dropped(source(batch.ids)), Tensor(), batch.lengths);
    const Tensor summary = cat({select(last, 0, -2), select(last, 0, -1)}, -1);
    const Tensor state = tanh(bridge(summary));
    if (alignment_module().empty()) return {{"summary", summary}, {"state", state}};
    return {{"memory", states}, {"lengths", batch.lengths}, {"state", state}};
  }

 protected:
  static Mask mask_of(const StateDict& from) {
    return Mask::lengths(from.at("lengths"), from.at("memory").size(1));
  }
  Tensor dropped(const Tensor& x) { return F::dropout(x, dropout, training()); }
  // The parts of both sides, those of the decoder by the same names whatever they are.
  void visit_all(Visitor& v, auto& decoder, auto& attention, Linear& join, Linear& output) {
    v("source", source);
    v("target", target);
    v("encoder", encoder);
    v("bridge", bridge);
    v("decoder", decoder);
    v("attention", attention);
    v("join", join);
    v("output", output);
  }

  Embedding source, target;
  GRU encoder;
  Linear bridge;
  double dropout;
};

// With attention and without, the decoder all at once.
//
//   decoder    s_1 .. s_T = a GRU over the target so far
//   context    c_i = sum_j a_ij h_j, a_ij = softmax_j score(s_i, h_j)        without attention c_i = c
//   output     W tanh(U [s_i, c_i])
//
// Without attention the one vector c must hold the whole sentence, however long.
class PlainTranslator : public RecurrentTranslator {
 public:
  explicit PlainTranslator(const TranslatorOptions& options)
      : RecurrentTranslator(options),
        gru(options.embedding, options.width, {.batch_first = true}),
        join(2 * options.width, options.width),
        output(options.width, options.target_words) {
    if (options.model == "attention")
      attention.emplace(make_score(options.attention, options.width, options.width, options.width));
  }

  Tensor forward(const PaddedBatch& batch, const Tensor& input) override {
    StateDict state = start(batch);
    return decode(input, state);
  }

  void visit(Visitor& v) override { visit_all(v, gru, attention, join, output); }

  Tensor step(const Tensor& tokens, StateDict& state) override {
    return squeeze(decode(unsqueeze(tokens, 1), state), 1);
  }
  std::string alignment_module() const override { return attention ? "attention" : ""; }

 private:
  // What may follow each token of `input`.
  Tensor decode(const Tensor& input, StateDict& state) {
    const auto [s, last] = gru(dropped(target(input)), unsqueeze(state.at("state"), 0));  // [B, T, H]
    state["state"] = squeeze(last, 0);
    Tensor context;
    if (!attention) context = expand(unsqueeze(state.at("summary"), 1), s.shape());
    if (attention) context = (*attention)(s, state.at("memory"), mask_of(state)).output;
    return output(dropped(tanh(join(cat({s, context}, -1)))));
  }

  GRU gru;
  std::optional<AttentionPooling<AnyScore>> attention;
  Linear join, output;
};

// The decoder of Bahdanau, Cho and Bengio (2015), whose context goes into its state: token by token.
//
//   context    c_i = sum_j a_ij h_j, a_ij = softmax_j score(s_(i-1), h_j)
//   decoder    s_i = GRU([y_(i-1), c_i], s_(i-1))
//   output     W tanh(U [s_i, c_i])
class FedTranslator : public RecurrentTranslator {
 public:
  explicit FedTranslator(const TranslatorOptions& options)
      : RecurrentTranslator(options),
        cell(options.embedding + options.width, options.width),
        attention(make_score(options.attention, options.width, options.width, options.width)),
        join(2 * options.width, options.width),
        output(options.width, options.target_words) {}

  Tensor forward(const PaddedBatch& batch, const Tensor& input) override {
    StateDict from = start(batch);
    const CachedKeys memory = from.at("memory");
    const Mask mask = mask_of(from);
    const Tensor y = dropped(target(input));
    std::vector<Tensor> all;
    for (int64_t t = 0; t < input.size(1); ++t)
      all.push_back(advance(memory, mask, select(y, 1, t), from["state"]));
    return say(stack(all, 1));
  }

  void visit(Visitor& v) override { visit_all(v, cell, attention, join, output); }

  Tensor step(const Tensor& tokens, StateDict& from) override {
    return say(advance(from.at("memory"), mask_of(from), target(tokens), from["state"]));
  }
  std::string alignment_module() const override { return "attention"; }

 private:
  // [s_i, c_i] after the token y, [B, 2H]; `state` goes from s_(i-1) to s_i.
  Tensor advance(const CachedKeys& memory, const Mask& mask, const Tensor& y, Tensor& state) const {
    const Tensor context = squeeze(attention(unsqueeze(state, 1), memory, mask).output, 1);
    state = cell(cat({y, context}, -1), state);
    return cat({state, context}, -1);
  }
  Tensor say(const Tensor& joint) { return output(dropped(tanh(join(joint)))); }

  GRUCell cell;
  AttentionPooling<AnyScore> attention;
  Linear join, output;
};

// A transformer: embeddings times sqrt(E) plus sinusoidal positions, as many layers on either side, with the
// norms first.
class TransformerTranslator : public Layer<TransformerTranslator>, public Translator {
 public:
  explicit TransformerTranslator(const TranslatorOptions& options)
      : source(word_table(options.source_words, options.width)),
        target(word_table(options.target_words, options.width)),
        position(options.width),
        transformer(
            options.width, kHeads, options.layers, options.layers,
            {.dim_feedforward = 2 * options.width, .dropout = options.layer_dropout, .norm_first = true}),
        output(options.width, options.target_words),
        dropout(options.dropout) {
    const NoGrad guard;
    for (Embedding* table : {&source, &target}) mul_(table->weight, 1 / scale());
  }

  Tensor forward(const PaddedBatch& batch, const Tensor& input) const {
    const Mask words = Mask::lengths(batch.lengths, batch.ids.size(1));
    return output(transformer(embed(source, batch.ids), embed(target, input), words,
                              Mask::causal(input.size(1)), words));
  }

  void visit(Visitor& v) override {
    v("source", source);
    v("target", target);
    v("transformer", transformer);
    v("output", output);
  }

  Module& module() override { return *this; }
  Tensor logits(const PaddedBatch& batch, const Tensor& input) override { return (*this)(batch, input); }
  // key_i and value_i [B, heads, length, E / heads] of layer i: the target so far; lengths [B]; memory_key_i
  // and memory_value_i: of the source.
  StateDict start(const PaddedBatch& sentences) override {
    const Tensor memory = encode(sentences);
    StateDict state{{"lengths", sentences.lengths}};
    for (size_t i = 0; i < transformer.decoder.layers.size(); ++i) {
      KeyValueCache read;
      transformer.decoder.layers[i].multihead_attn(memory, memory, memory, Mask(), &read);
      put(state, "memory_", i, read);
      state[part("key", i)] = narrow(read.keys(), 2, 0, 0);
      state[part("value", i)] = narrow(read.values(), 2, 0, 0);
    }
    return state;
  }
  Tensor step(const Tensor& tokens, StateDict& state) override {
    DecoderCache cache;
    for (size_t i = 0; i < transformer.decoder.layers.size(); ++i) {
      DecoderLayerCache& layer = cache.layers.emplace_back();
      layer.self.append(state.at(part("key", i)), state.at(part("value", i)));
      layer.memory.append(state.at(part("memory_key", i)), state.at(part("memory_value", i)));
    }
    Tensor y = next(tokens, Tensor(), state.at("lengths"), cache);
    for (size_t i = 0; i < cache.layers.size(); ++i) put(state, "", i, cache.layers[i].self);
    return y;
  }
  // The same with caches that grow in place.
  DecodeStep decoder(const PaddedBatch& batch) override {
    return [this, memory = encode(batch), lengths = batch.lengths, cache = DecoderCache()](
               const Tensor& tokens, const Tensor& parents) mutable {
      cache.select(parents);
      memory = index_select(memory, 0, parents);
      lengths = index_select(lengths, 0, parents);
      return log_softmax(next(tokens, memory, lengths, cache), -1);
    };
  }
  std::string alignment_module() const override {
    return "transformer.decoder.layers." + std::to_string(transformer.decoder.layers.size() - 1) +
           ".multihead_attn";
  }

 private:
  static constexpr int64_t kHeads = 4;

  static std::string part(const std::string& name, size_t layer) {
    return name + "_" + std::to_string(layer);
  }
  static void put(StateDict& state, const std::string& of, size_t layer, const KeyValueCache& cache) {
    state[part(of + "key", layer)] = cache.keys();
    state[part(of + "value", layer)] = cache.values();
  }

  Tensor encode(const PaddedBatch& batch) const {
    return transformer.encoder(embed(source, batch.ids), Mask::lengths(batch.lengths, batch.ids.size(1)));
  }
  // What may follow these tokens. Only the first step reads the memory.
  Tensor next(const Tensor& tokens, const Tensor& memory, const Tensor& lengths, DecoderCache& cache) const {
    const int64_t length = memory.defined() ? memory.size(1) : cache.layers.front().memory.length();
    const Tensor y = embed(target, unsqueeze(tokens, 1), cache.length());
    return squeeze(output(transformer.decoder(y, memory, Mask(), Mask::lengths(lengths, length), &cache)), 1);
  }
  double scale() const { return std::sqrt(static_cast<double>(source.weight.size(1))); }
  Tensor embed(const Embedding& table, const Tensor& ids, int64_t offset = 0) const {
    const Tensor x = table(ids) * scale();
    return F::dropout(position(x, offset), dropout, training());
  }

  Embedding source, target;
  SinusoidalPosition position;
  Transformer transformer;
  Linear output;
  double dropout;
};

}  // namespace

DecodeStep Translator::decoder(const PaddedBatch& source) {
  return [this, state = start(source)](const Tensor& tokens, const Tensor& parents) mutable {
    for (auto& [name, x] : state) x = index_select(x, 0, parents);
    return log_softmax(step(tokens, state), -1);
  };
}

const std::vector<std::string>& translator_names() {
  static const std::vector<std::string> names = {"rnn", "attention", "fed", "transformer"};
  return names;
}

std::unique_ptr<Translator> make_translator(const TranslatorOptions& options) {
  check(options.width > 0 && options.width % 4 == 0, "a translator: width is ", options.width,
        "; it must be a multiple of 4");
  if (options.model == "transformer") return std::make_unique<TransformerTranslator>(options);
  if (options.model == "fed") return std::make_unique<FedTranslator>(options);
  return std::make_unique<PlainTranslator>(options);
}

}  // namespace program
