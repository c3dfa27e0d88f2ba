// A training step of a small GPT.
#include "layers.h"

namespace bench {
namespace {

constexpr int64_t kBatch = 8, kLength = 256, kWords = 65, kWidth = 384;

// Six layers with the norms before each part; the words' vectors are also what the output is scored with.
struct Gpt : torch::nn::Module {
  Gpt() {
    for (int i = 0; i < 6; ++i)
      layers->push_back(
          EncoderLayer(LayerOptions{kWidth, 6, 4 * kWidth, 0, /*norm_first=*/true, /*gelu=*/true}));
  }

  Tensor forward(const Tensor& x) {
    Tensor y = words(x) + positions->weight;
    for (const auto& layer : *layers) y = layer->as<EncoderLayer>()->forward(y, before);
    return torch::linear(norm(y), words->weight);
  }

  torch::nn::Embedding words = register_module("words", torch::nn::Embedding(kWords, kWidth));
  torch::nn::Embedding positions = register_module("positions", torch::nn::Embedding(kLength, kWidth));
  torch::nn::ModuleList layers = register_module("layers", torch::nn::ModuleList());
  torch::nn::LayerNorm norm = register_module("norm", layer_norm(kWidth));
  Attend before = causal(kLength);
};

}  // namespace

void gpt_step(State& state) {
  const Tensor x = ids(0, kWords, {kBatch, kLength}), labels = ids(0, kWords, {kBatch, kLength});
  Gpt model;
  torch::optim::AdamW adam(model.parameters(),
                           torch::optim::AdamWOptions(1e-3).betas({0.9, 0.99}).weight_decay(0.1));
  time_training(
      state, model, adam, [&] { return cross_entropy(model.forward(x).flatten(0, 1), labels.flatten()); }, 1);
  state.SetItemsProcessed(state.iterations() * kBatch * kLength);
}

}  // namespace bench
