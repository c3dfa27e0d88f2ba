// Training steps of models that translate, and greedy decoding with one of them.
#include <heed/text.h>

#include <cmath>

#include "bench.h"
#include "heed/text.h"

namespace bench {
namespace {

using heed::AttentionOptions;
using heed::Mask;

// Sentences of `length` places at most and half of that at least, the rest padding (0).
struct Batch {
  Batch(int64_t size, int64_t length, int64_t words) {
    const Tensor lengths = ids(length / 2, length + 1, {size});
    mask = Mask::lengths(lengths, length);
    const Tensor valid = squeeze(mask.allowed(), 1);
    source = where(valid, ids(4, words, {size, length}), 0);
    labels = where(valid, ids(4, words, {size, length}), 0);
    const Tensor start = heed::full({size, 1}, heed::Vocabulary::bos, heed::int64);
    input = heed::cat({start, narrow(labels, 1, 0, length - 1)}, 1);
  }
  int64_t tokens() const { return labels.numel(); }

  Tensor source, input, labels;  // [B, T]
  Mask mask;                     // of the source
};

// Cross entropy of logits [B, T, V], the mean over the labels that are not padding.
Tensor loss(const Tensor& logits, const Batch& batch) {
  return heed::F::cross_entropy(logits, batch.labels, {.ignore_index = 0, .class_dim = -1});
}

// Two GRUs and additive attention between them.
//
//   encoder    h_1 .. h_S = two layers over the source, from 0 on
//   decoder    two layers over [c_t, embedding of target t], from the encoder's last states on
//   context    c_t = sum_j softmax_j(w_v . tanh(W_q q_t + W_k h_j)) h_j, q_t the state of its upper layer
//   output     W s_t + b
struct GruTranslator : heed::Layer<GruTranslator> {
  Tensor forward(const Batch& batch) const {
    const auto [states, last] = encoder(source(batch.source));  // [B, S, H], [2, B, H]
    const heed::CachedKeys keys(states);
    const Tensor y = target(batch.input);
    Tensor state = last;
    std::vector<Tensor> outputs;
    for (int64_t t = 0; t < y.size(1); ++t) {
      const Tensor query = unsqueeze(select(state, 0, -1), 1);  // [B, 1, H]
      const Tensor context = attention(query, keys, states, batch.mask).output;
      const auto [s, next] = decoder(heed::cat({context, narrow(y, 1, t, 1)}, -1), state);
      outputs.push_back(s);
      state = next;
    }
    return output(heed::cat(outputs, 1));
  }

  void visit(heed::Visitor& v) override {
    v("source", source);
    v("target", target);
    v("encoder", encoder);
    v("attention", attention);
    v("decoder", decoder);
    v("output", output);
  }

  heed::Embedding source{200, 256}, target{200, 256};
  heed::GRU encoder{256, 256, {.num_layers = 2, .batch_first = true, .dropout = 0.2}};
  heed::AttentionPooling<heed::AdditiveScore> attention{heed::AdditiveScore(256, 256, 256)};
  heed::GRU decoder{512, 256, {.num_layers = 2, .batch_first = true, .dropout = 0.2}};
  heed::Linear output{256, 200};
};

// A transformer with the norms behind each sum; embeddings times sqrt(width) plus sinusoidal positions.
struct TransformerTranslator : heed::Layer<TransformerTranslator> {
  explicit TransformerTranslator(const Translator& size)
      : source(size.words, size.width),
        target(size.words, size.width),
        position(size.width),
        encoder(size.width, size.heads, size.layers, options(size)),
        decoder(size.width, size.heads, size.layers, options(size)),
        output(size.width, size.words) {}
  static heed::TransformerOptions options(const Translator& size) {
    return {.dim_feedforward = size.feedforward, .dropout = 0.1, .feedforward_dropout = 0};
  }

  Tensor embed(const heed::Embedding& table, const Tensor& words, int64_t offset = 0) const {
    const Tensor x = table(words) * std::sqrt(static_cast<double>(position.embed_dim));
    return heed::F::dropout(position(x, offset), 0.1, training());
  }
  Tensor forward(const Batch& batch) const {
    const Tensor memory = encoder(embed(source, batch.source), batch.mask);
    return output(
        decoder(embed(target, batch.input), memory, AttentionOptions{.is_causal = true}, batch.mask));
  }

  void visit(heed::Visitor& v) override {
    v("source", source);
    v("target", target);
    v("encoder", encoder);
    v("decoder", decoder);
    v("output", output);
  }

  heed::Embedding source, target;
  heed::SinusoidalPosition position;
  heed::TransformerEncoder encoder;
  heed::TransformerDecoder decoder;
  heed::Linear output;
};

}  // namespace

void gru_seq2seq_step(State& state) {
  const Batch batch(128, 10, 200);
  GruTranslator model;
  heed::Adam adam(model.parameters(), {.lr = 0.005});
  time_training(
      state, model, adam, [&] { return loss(model(batch), batch); }, 1);
  state.SetItemsProcessed(state.iterations() * batch.tokens());
}

void transformer_seq2seq_step(State& state, const Translator& size) {
  const Batch batch(128, size.length, size.words);
  TransformerTranslator model(size);
  heed::Adam adam(model.parameters(), {.lr = 1e-3});
  time_training(
      state, model, adam, [&] { return loss(model(batch), batch); }, INFINITY, heed::float64);
  state.SetItemsProcessed(state.iterations() * batch.tokens());
}

// Encodes and appends the most probable word 32 times. With `cached` the decoder sees the last word alone,
// else all so far; what it made of the encoder's output stays in either case.
void greedy_decode(State& state, bool cached, int64_t batch) {
  constexpr int64_t kSteps = 32;
  const Tensor source = ids(4, small.words, {batch, small.length});
  TransformerTranslator model(small);
  given(model.parameters());
  model.eval();
  const heed::NoGrad no_grad;
  Tensor words;
  time_steps(state, [&] {
    const Tensor memory = model.encoder(model.embed(model.source, source));
    heed::DecoderCache cache;
    words = heed::full({batch, 1}, heed::Vocabulary::bos, heed::int64);
    for (int64_t step = 0; step < kSteps; ++step) {
      if (!cached) cache.roll_back(0);
      const int64_t seen = cache.length();
      const Tensor y = model.embed(model.target, narrow(words, 1, seen, step + 1 - seen), seen);
      const Tensor x = model.decoder(y, memory, AttentionOptions{.is_causal = true}, Mask(), &cache);
      words = heed::cat({words, argmax(model.output(narrow(x, 1, -1, 1)), -1)}, 1);
    }
  });
  found(state, words, {});
  state.SetItemsProcessed(state.iterations() * kSteps * batch);
}

}  // namespace bench
