// Training steps of models that translate, and greedy decoding with one of them.
#include "layers.h"

namespace bench {
namespace {

constexpr int64_t kBegin = 1;  // the word before the first

// Sentences of `length` places at most and half of that at least, the rest padding (0).
struct Batch {
  Batch(int64_t size, int64_t length, int64_t words) {
    const Tensor lengths = ids(length / 2, length + 1, {size});
    const Tensor valid = torch::arange(length) < lengths.unsqueeze(1);
    mask = torch::zeros({size, length}).masked_fill_(~valid, -std::numeric_limits<float>::infinity());
    source = ids(4, words, {size, length}) * valid;
    labels = ids(4, words, {size, length}) * valid;
    input = torch::cat({torch::full({size, 1}, kBegin, torch::kInt64), labels.narrow(1, 0, length - 1)}, 1);
  }
  int64_t tokens() const { return labels.numel(); }

  Tensor source, input, labels;  // [B, T]
  Tensor mask;                   // of the source [B, T], added to scores
};

// Cross entropy of logits [B, T, V], the mean over the labels that are not padding.
Tensor loss(const Tensor& logits, const Batch& batch) {
  return torch::cross_entropy_loss(logits.flatten(0, 1), batch.labels.flatten(), {}, at::Reduction::Mean,
                                   /*ignore_index=*/0);
}

torch::nn::Linear unbiased(int64_t in, int64_t out) {
  return torch::nn::Linear(torch::nn::LinearOptions(in, out).bias(false));
}
torch::nn::GRU gru(int64_t in, int64_t width) {
  return torch::nn::GRU(torch::nn::GRUOptions(in, width).num_layers(2).batch_first(true).dropout(0.2));
}

// Two GRUs and additive attention between them.
//
//   encoder    h_1 .. h_S = two layers over the source, from 0 on
//   decoder    two layers over [c_t, embedding of target t], from the encoder's last states on
//   context    c_t = sum_j softmax_j(w_v . tanh(W_q q_t + W_k h_j)) h_j, q_t the state of its upper layer
//   output     W s_t + b
struct GruTranslator : torch::nn::Module {
  Tensor forward(const Batch& batch) {
    auto [states, state] = encoder(source(batch.source));  // [B, S, H], [2, B, H]
    const Tensor keys = to_key(states), y = target(batch.input);
    std::vector<Tensor> outputs;
    for (int64_t t = 0; t < y.size(1); ++t) {
      const Tensor query = to_query(state.select(0, -1)).unsqueeze(1);                     // [B, 1, H]
      const Tensor scores = to_score(torch::tanh(query + keys)).squeeze(-1) + batch.mask;  // [B, S]
      const Tensor context = torch::bmm(torch::softmax(scores, -1).unsqueeze(1), states);  // [B, 1, H]
      Tensor output_t;
      std::tie(output_t, state) = decoder(torch::cat({context, y.narrow(1, t, 1)}, -1), state);
      outputs.push_back(output_t);
    }
    return output(torch::cat(outputs, 1));
  }

  torch::nn::Embedding source = register_module("source", torch::nn::Embedding(200, 256));
  torch::nn::Embedding target = register_module("target", torch::nn::Embedding(200, 256));
  torch::nn::GRU encoder = register_module("encoder", gru(256, 256));
  torch::nn::Linear to_query = register_module("to_query", unbiased(256, 256));
  torch::nn::Linear to_key = register_module("to_key", unbiased(256, 256));
  torch::nn::Linear to_score = register_module("to_score", unbiased(256, 1));
  torch::nn::GRU decoder = register_module("decoder", gru(512, 256));
  torch::nn::Linear output = register_module("output", torch::nn::Linear(256, 200));
};

constexpr int64_t kLongest = 33;  // sentence of these workloads

// PE[p, 2i] = sin(p / 10000^(2i/width)), PE[p, 2i + 1] = cos of the same
Tensor sinusoids(int64_t length, int64_t width) {
  const Tensor frequency = torch::exp(torch::arange(0, width, 2, torch::kFloat64) *
                                      (-std::log(10000.0) / static_cast<double>(width)));
  const Tensor angle = torch::arange(length, torch::kFloat64).unsqueeze(1) * frequency;
  return torch::stack({angle.sin(), angle.cos()}, -1).flatten(1).to(torch::kFloat32);
}

// Self-attention, attention to the memory, a feed-forward part; each adds to its input, then a norm.
struct DecoderLayerImpl : torch::nn::Module {
  explicit DecoderLayerImpl(const LayerOptions& options)
      : dropout(options.dropout),
        self(register_module("self", SelfAttention(options.width, options.heads))),
        cross(register_module("cross", CrossAttention(options.width, options.heads))),
        feed_forward(register_module("feed_forward", FeedForward(options))),
        norm1(register_module("norm1", layer_norm(options.width))),
        norm2(register_module("norm2", layer_norm(options.width))),
        norm3(register_module("norm3", layer_norm(options.width))) {}

  // `memory` is cross->keys_values(what the encoder gave).
  Tensor forward(const Tensor& x, const std::vector<Tensor>& memory, Attend to_self, Attend to_memory,
                 Cache* cache = nullptr) {
    const double p = is_training() ? dropout : 0;
    to_self.dropout = to_memory.dropout = p;
    Tensor y = norm1(x + torch::dropout(self(x, to_self, cache), p, true));
    y = norm2(y + torch::dropout(cross(y, memory, to_memory), p, true));
    return norm3(y + torch::dropout(feed_forward(y), p, true));
  }

  double dropout;
  SelfAttention self;
  CrossAttention cross;
  FeedForward feed_forward;
  torch::nn::LayerNorm norm1, norm2, norm3;
};
TORCH_MODULE(DecoderLayer);

// A transformer with the norms behind each sum; embeddings times sqrt(width) plus sinusoidal positions.
struct TransformerTranslator : torch::nn::Module {
  explicit TransformerTranslator(const Translator& size)
      : source(register_module("source", torch::nn::Embedding(size.words, size.width))),
        target(register_module("target", torch::nn::Embedding(size.words, size.width))),
        encoder(register_module("encoder", torch::nn::ModuleList())),
        decoder(register_module("decoder", torch::nn::ModuleList())),
        output(register_module("output", torch::nn::Linear(size.width, size.words))),
        positions(sinusoids(kLongest, size.width)),
        before(causal(kLongest)) {
    const LayerOptions options{size.width, size.heads, size.feedforward, 0.1};
    for (int64_t i = 0; i < size.layers; ++i) encoder->push_back(EncoderLayer(options));
    for (int64_t i = 0; i < size.layers; ++i) decoder->push_back(DecoderLayer(options));
  }

  Tensor embed(torch::nn::Embedding& table, const Tensor& words, int64_t offset = 0) {
    const Tensor x = table(words) * std::sqrt(static_cast<double>(positions.size(1)));
    return torch::dropout(x + positions.narrow(0, offset, words.size(1)), 0.1, is_training());
  }
  Tensor encode(const Tensor& words, const Attend& how = {}) {
    Tensor x = embed(source, words);
    for (const auto& layer : *encoder) x = layer->as<EncoderLayer>()->forward(x, how);
    return x;
  }
  Tensor forward(const Batch& batch) {
    const Attend to_source{batch.mask.unsqueeze(1).unsqueeze(1)};  // [B, 1, 1, S]
    const Tensor memory = encode(batch.source, to_source);
    Tensor x = embed(target, batch.input);
    for (const auto& layer : *decoder) {
      auto& one = *layer->as<DecoderLayer>();
      x = one.forward(x, one.cross->keys_values(memory), before, to_source);
    }
    return output(x);
  }

  torch::nn::Embedding source, target;
  torch::nn::ModuleList encoder, decoder;
  torch::nn::Linear output;
  Tensor positions;
  Attend before;
};

// libtorch's own transformer, which drops inside the feed-forward part too and ends each stack in a norm. It
// takes [T, B, D].
struct StockTranslator : torch::nn::Module {
  Tensor forward(const Batch& batch) {
    const auto embed = [&](torch::nn::Embedding& table, const Tensor& words) {
      const Tensor x = table(words.t()) * std::sqrt(static_cast<double>(small.width));
      return torch::dropout(x + positions, 0.1, is_training());
    };
    const Tensor padding = batch.mask != 0;
    return output(body->forward(embed(source, batch.source), embed(target, batch.input), /*src_mask=*/{},
                                before, {}, padding, {}, padding))
        .transpose(0, 1);
  }

  torch::nn::Embedding source = register_module("source", torch::nn::Embedding(small.words, small.width));
  torch::nn::Embedding target = register_module("target", torch::nn::Embedding(small.words, small.width));
  torch::nn::Transformer body =
      register_module("body", torch::nn::Transformer(torch::nn::TransformerOptions(small.width, small.heads,
                                                                                   small.layers, small.layers)
                                                         .dim_feedforward(small.feedforward)
                                                         .dropout(0.1)));
  torch::nn::Linear output = register_module("output", torch::nn::Linear(small.width, small.words));
  Tensor positions = sinusoids(small.length, small.width).unsqueeze(1);  // [T, 1, D]
  Tensor before = causal(small.length).mask;
};

}  // namespace

void gru_seq2seq_step(State& state) {
  const Batch batch(128, 10, 200);
  GruTranslator model;
  torch::optim::Adam adam(model.parameters(), torch::optim::AdamOptions(0.005));
  time_training(
      state, model, adam, [&] { return loss(model.forward(batch), batch); }, 1);
  state.SetItemsProcessed(state.iterations() * batch.tokens());
}

void transformer_seq2seq_step(State& state, const Translator& size) {
  const Batch batch(128, size.length, size.words);
  TransformerTranslator model(size);
  torch::optim::Adam adam(model.parameters(), torch::optim::AdamOptions(1e-3));
  time_training(
      state, model, adam, [&] { return loss(model.forward(batch), batch); }, INFINITY, torch::kFloat64);
  state.SetItemsProcessed(state.iterations() * batch.tokens());
}

void transformer_seq2seq_step_nnmodule(State& state) {
  const Batch batch(128, small.length, small.words);
  StockTranslator model;
  torch::optim::Adam adam(model.parameters(), torch::optim::AdamOptions(1e-3));
  time_training(state, model, adam, [&] { return loss(model.forward(batch), batch); });
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
  const c10::InferenceMode inference;
  Tensor words;
  time_steps(state, [&] {
    const Tensor encoded = model.encode(source);
    std::vector<std::vector<Tensor>> memory;
    std::vector<Cache> caches;
    for (const auto& layer : *model.decoder) {
      memory.push_back(layer->as<DecoderLayer>()->cross->keys_values(encoded));
      const auto room = [&] { return torch::empty({batch, small.heads, kSteps, small.width / small.heads}); };
      if (cached) caches.push_back({room(), room()});
    }
    words = torch::full({batch, 1}, kBegin, torch::kInt64);
    for (int64_t step = 0; step < kSteps; ++step) {
      const int64_t seen = cached ? step : 0;
      Tensor x = model.embed(model.target, words.slice(1, seen), seen);
      for (size_t i = 0; i < memory.size(); ++i) {
        x = model.decoder[i]->as<DecoderLayer>()->forward(x, memory[i], cached ? Attend() : model.before,
                                                          Attend(), cached ? &caches[i] : nullptr);
      }
      words = torch::cat({words, model.output(x.slice(1, -1)).argmax(-1)}, 1);
    }
  });
  found(state, words, {});
  state.SetItemsProcessed(state.iterations() * kSteps * batch);
}

}  // namespace bench
