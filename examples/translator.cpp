#include "examples/translator.h"

#include <heed.h>

#include <cmath>
#include <optional>

using namespace heed;

namespace program {
namespace {

constexpr double kDropout = 0.1;

Embedding word_table(int64_t words, int64_t width) {
  return Embedding(words, width, {.padding_idx = Vocabulary::pad});
}

// Recurrent networks, with attention and without.
//
//   encoder    h_1 .. h_S = a GRU in both directions over the source; c its last states
//   decoder    s_1 .. s_T = a GRU over the target so far, which starts from c
//   context    c_i = sum_j a_ij h_j, a_ij = softmax_j score(s_i, h_j)        without attention c_i = c
//   output     W tanh(U [s_i, c_i])
//
// Without attention the one vector c must hold the whole sentence, however long.
class RecurrentTranslator : public Layer<RecurrentTranslator>, public Translator {
 public:
  explicit RecurrentTranslator(const TranslatorOptions& options)
      : source(word_table(options.source_words, kEmbedding)),
        target(word_table(options.target_words, kEmbedding)),
        encoder(kEmbedding, kHidden / 2, {.batch_first = true, .bidirectional = true}),
        bridge(kHidden, kHidden),
        gru(kEmbedding, kHidden, {.batch_first = true}),
        join(2 * kHidden, kHidden),
        output(kHidden, options.target_words) {
    if (options.model == "attention")
      attention.emplace(make_score(options.attention, kHidden, kHidden, kHidden));
  }

  Tensor forward(const PaddedBatch& batch, const Tensor& input) const {
    const State start = encode(batch);
    return decode(start, input).first;
  }

  void visit(Visitor& v) override {
    v("source", source);
    v("target", target);
    v("encoder", encoder);
    v("bridge", bridge);
    v("decoder", gru);
    v("attention", attention);
    v("join", join);
    v("output", output);
  }

  Module& module() override { return *this; }
  Tensor logits(const PaddedBatch& batch, const Tensor& input) override { return (*this)(batch, input); }
  DecodeStep decoder(const PaddedBatch& batch) override {
    return [this, state = encode(batch)](const Tensor& tokens, const Tensor& parents) mutable {
      state = {index_select(state.states, 0, parents), index_select(state.summary, 0, parents),
               index_select(state.lengths, 0, parents), index_select(state.last, 1, parents)};
      const auto [logits, last] = decode(state, unsqueeze(tokens, 1));
      state.last = last;
      return log_softmax(squeeze(logits, 1), -1);
    };
  }
  std::string alignment_module() const override { return attention ? "attention" : ""; }

 private:
  static constexpr int64_t kEmbedding = 64, kHidden = 96;

  struct State {
    Tensor states;   // [B, S, H]: h
    Tensor summary;  // [B, H]: c
    Tensor lengths;  // [B]
    Tensor last;     // [1, B, H]: where the decoder stands
  };

  State encode(const PaddedBatch& batch) const {
    const Tensor x = F::dropout(source(batch.ids), kDropout, training());
    const auto [states, last] = encoder(x, Tensor(), batch.lengths);
    const Tensor summary = cat({select(last, 0, 0), select(last, 0, 1)}, -1);
    return {states, summary, batch.lengths, unsqueeze(tanh(bridge(summary)), 0)};
  }

  // What may follow each token of `input`, and where the decoder stands then.
  std::pair<Tensor, Tensor> decode(const State& from, const Tensor& input) const {
    const Tensor y = F::dropout(target(input), kDropout, training());
    const auto [s, last] = gru(y, from.last);  // [B, T, H]
    Tensor context = expand(unsqueeze(from.summary, 1), s.shape());
    if (attention)
      context = (*attention)(s, from.states, Mask::lengths(from.lengths, from.states.size(1))).output;
    const Tensor joint = F::dropout(tanh(join(cat({s, context}, -1))), kDropout, training());
    return {output(joint), last};
  }

  Embedding source, target;
  GRU encoder;
  Linear bridge;
  GRU gru;
  std::optional<AttentionPooling<AnyScore>> attention;
  Linear join, output;
};

// A transformer: embeddings times sqrt(E) plus sinusoidal positions, two layers on either side, with the
// norms first. Dropout of the embeddings alone is enough here, and a tenth faster than everywhere.
class TransformerTranslator : public Layer<TransformerTranslator>, public Translator {
 public:
  explicit TransformerTranslator(const TranslatorOptions& options)
      : source(word_table(options.source_words, kWidth)),
        target(word_table(options.target_words, kWidth)),
        position(kWidth),
        transformer(kWidth, kHeads, 2, 2, {.dim_feedforward = 2 * kWidth, .dropout = 0, .norm_first = true}),
        output(kWidth, options.target_words) {
    const NoGrad guard;
    for (Embedding* table : {&source, &target})
      mul_(table->weight, 1 / std::sqrt(static_cast<double>(kWidth)));
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
  std::string alignment_module() const override { return "transformer.decoder.layers.1.multihead_attn"; }

 private:
  static constexpr int64_t kWidth = 96, kHeads = 4;

  Tensor embed(const Embedding& table, const Tensor& ids, int64_t offset = 0) const {
    const Tensor x = table(ids) * std::sqrt(static_cast<double>(kWidth));
    return F::dropout(position(x, offset), kDropout, training());
  }

  Embedding source, target;
  SinusoidalPosition position;
  Transformer transformer;
  Linear output;
};

}  // namespace

std::unique_ptr<Translator> make_translator(const TranslatorOptions& options) {
  if (options.model == "transformer") return std::make_unique<TransformerTranslator>(options);
  return std::make_unique<RecurrentTranslator>(options);
}

}  // namespace program
