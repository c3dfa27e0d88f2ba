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

 protected:
  struct Source {
    CachedKeys states;  // [B, S, H]: h
    Tensor summary;     // [B, H]: c
    Tensor start;       // [B, H]: where the decoder starts
    Tensor lengths;     // [B]

    Mask mask() const { return Mask::lengths(lengths, states.size(1)); }
    Source rows(const Tensor& of) const {
      return {index_select(states, 0, of), index_select(summary, 0, of), index_select(start, 0, of),
              index_select(lengths, 0, of)};
    }
  };

  Source encode(const PaddedBatch& batch) {
    const auto [states, last] = encoder(dropped(source(batch.ids)), Tensor(), batch.lengths);
    const Tensor summary = cat({select(last, 0, -2), select(last, 0, -1)}, -1);
    return {states, summary, tanh(bridge(summary)), batch.lengths};
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
    const Source from = encode(batch);
    return decode(from, unsqueeze(from.start, 0), input).first;
  }

  void visit(Visitor& v) override { visit_all(v, gru, attention, join, output); }

  DecodeStep decoder(const PaddedBatch& batch) override {
    Source read = encode(batch);
    Tensor begin = unsqueeze(read.start, 0);
    return [this, from = std::move(read), last = std::move(begin)](const Tensor& tokens,
                                                                   const Tensor& parents) mutable {
      from = from.rows(parents);
      const auto [logits, next] = decode(from, index_select(last, 1, parents), unsqueeze(tokens, 1));
      last = next;
      return log_softmax(squeeze(logits, 1), -1);
    };
  }
  std::string alignment_module() const override { return attention ? "attention" : ""; }

 private:
  // What may follow each token of `input`, and where the decoder stands then, [1, B, H].
  std::pair<Tensor, Tensor> decode(const Source& from, const Tensor& begin, const Tensor& input) {
    const auto [s, last] = gru(dropped(target(input)), begin);  // [B, T, H]
    Tensor context = expand(unsqueeze(from.summary, 1), s.shape());
    if (attention) context = (*attention)(s, from.states, from.mask()).output;
    return {output(dropped(tanh(join(cat({s, context}, -1))))), last};
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
    const Source from = encode(batch);
    const Mask mask = from.mask();
    const Tensor y = dropped(target(input));
    Tensor state = from.start;
    std::vector<Tensor> all;
    for (int64_t t = 0; t < input.size(1); ++t) all.push_back(step(from, mask, select(y, 1, t), state));
    return say(stack(all, 1));
  }

  void visit(Visitor& v) override { visit_all(v, cell, attention, join, output); }

  DecodeStep decoder(const PaddedBatch& batch) override {
    Source read = encode(batch);
    Tensor begin = read.start;
    return [this, from = std::move(read), state = std::move(begin)](const Tensor& tokens,
                                                                    const Tensor& parents) mutable {
      from = from.rows(parents);
      state = index_select(state, 0, parents);
      return log_softmax(say(step(from, from.mask(), target(tokens), state)), -1);
    };
  }
  std::string alignment_module() const override { return "attention"; }

 private:
  // [s_i, c_i] after the token y, [B, 2H]; `state` goes from s_(i-1) to s_i.
  Tensor step(const Source& from, const Mask& mask, const Tensor& y, Tensor& state) const {
    const Tensor context = squeeze(attention(unsqueeze(state, 1), from.states, mask).output, 1);
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
  DecodeStep decoder(const PaddedBatch& batch) override {
    const Mask words = Mask::lengths(batch.lengths, batch.ids.size(1));
    const Tensor encoded = transformer.encoder(embed(source, batch.ids), words);
    return [this, memory = Tensor(encoded), lengths = batch.lengths, cache = DecoderCache()](
               const Tensor& tokens, const Tensor& parents) mutable {
      cache.select(parents);
      memory = index_select(memory, 0, parents);
      lengths = index_select(lengths, 0, parents);
      const Tensor y = embed(target, unsqueeze(tokens, 1), cache.length());
      const Tensor next =
          transformer.decoder(y, memory, Mask(), Mask::lengths(lengths, memory.size(1)), &cache);
      return log_softmax(squeeze(output(next), 1), -1);
    };
  }
  std::string alignment_module() const override {
    return "transformer.decoder.layers." + std::to_string(transformer.decoder.layers.size() - 1) +
           ".multihead_attn";
  }

 private:
  static constexpr int64_t kHeads = 4;

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
