// A training step of a small GPT.
#include "gpt.h"

#include "bench.h"

namespace bench {

void gpt_step(State& state) {
  constexpr int64_t kBatch = 8;
  const Gpt::Options o;
  const Tensor x = ids(0, o.words, {kBatch, o.length}), labels = ids(0, o.words, {kBatch, o.length});
  Gpt model(o);
  heed::AdamW adam(model.parameters(), {.lr = 1e-3, .betas = {0.9, 0.99}, .weight_decay = 0.1});
  time_training(
      state, model, adam, [&] { return heed::F::cross_entropy(model(x), labels, {.class_dim = -1}); }, 1);
  state.SetItemsProcessed(state.iterations() * kBatch * o.length);
}

}  // namespace bench
