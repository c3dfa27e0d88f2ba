// A training step of a small GPT.
#include "bench.h"

namespace bench {
namespace {

constexpr int64_t kBatch = 8, kLength = 256, kWords = 65, kWidth = 384;
const heed::TransformerOptions kLayers{.dim_feedforward = 4 * kWidth,
                                       .dropout = 0,
                                       .activation = heed::Activation::gelu,
                                       .norm_first = true,
                                       .final_norm = true};

// Six layers with the norms before each part; the words' vectors are also what the output is scored with.
struct Gpt : heed::Layer<Gpt> {
  Tensor forward(const Tensor& x) const {
    const Tensor y = blocks(position(words(x)), heed::AttentionOptions{.is_causal = true});
    return heed::F::linear(y, words.weight);
  }

  void visit(heed::Visitor& v) override {
    v("words", words);
    v("position", position);
    v("blocks", blocks);
  }

  heed::Embedding words{kWords, kWidth};
  heed::LearnedPosition position{kLength, kWidth};
  heed::TransformerEncoder blocks{kWidth, 6, 6, kLayers};
};

}  // namespace

void gpt_step(State& state) {
  const Tensor x = ids(0, kWords, {kBatch, kLength}), labels = ids(0, kWords, {kBatch, kLength});
  Gpt model;
  heed::AdamW adam(model.parameters(), {.lr = 1e-3, .betas = {0.9, 0.99}, .weight_decay = 0.1});
  time_training(
      state, model, adam, [&] { return heed::F::cross_entropy(model(x), labels, {.class_dim = -1}); }, 1);
  state.SetItemsProcessed(state.iterations() * kBatch * kLength);
}

}  // namespace bench
