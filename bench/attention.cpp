// Attention: additive scores, several heads, long sequences; forward and backward.
#include "bench.h"

namespace bench {
namespace {

// softmax(s) v with the scores s = w_v . tanh(W_q q + W_k k): one query for 10 keys, 64 times.
void additive(State& state) {
  const Tensor q = leaf({64, 1, 256}), k = leaf({64, 10, 256}), v = leaf({64, 10, 256});
  const heed::AttentionPooling<heed::AdditiveScore> attention(heed::AdditiveScore(256, 256, 256));
  const heed::AdditiveScore& score = attention.score;
  time_forward_backward(state, {q, k, v, score.W_q.weight, score.W_k.weight, score.w_v.weight},
                        [&] { return attention(q, k, v).output; });
}

// Self-attention of x [batch, length, width] with projections before and behind.
void add_heads(int64_t batch, int64_t length, int64_t width, int64_t heads) {
  add("mha_step/" + std::to_string(batch) + "x" + std::to_string(length) + "x" + std::to_string(width) + "h" +
          std::to_string(heads),
      [=](State& state) {
        const Tensor x = leaf({batch, length, width});
        const heed::MultiheadAttention attention(width, heads);
        std::vector<Tensor> leaves = attention.parameters();
        leaves.push_back(x);
        time_forward_backward(state, leaves, [&] { return attention(x).output; });
      })
      ->Unit(benchmark::kMillisecond);
}

// softmax(q k^T / 8 + mask) v, 8 heads of width 64. Two products forward and five backward if the scores are
// not kept, four if they are; what is counted is six, dense.
void add_long(const std::string& name, int64_t length, bool causal) {
  auto* workload = add("attention_long/" + name + "/" + std::to_string(length), [=](State& state) {
    const Tensor q = leaf({1, 8, length, 64}), k = leaf({1, 8, length, 64}), v = leaf({1, 8, length, 64});
    time_forward_backward(state, {q, k, v}, [&] {
      return heed::F::scaled_dot_product_attention(q, k, v, {.is_causal = causal}).output;
    });
    count_flops(state, 12.0 * 8 * 64 * static_cast<double>(length * length));
  });
  workload->Unit(benchmark::kMillisecond);
}

}  // namespace

void add_attention() {
  add("attention_scores_additive", additive)->Unit(benchmark::kMicrosecond);
  add_heads(64, 32, 128, 4);
  add_heads(32, 64, 256, 8);
  add_heads(8, 256, 512, 8);
  for (const bool causal : {false, true})
    for (const int64_t length : {512, 1024, 2048, 4096, 8192})
      add_long(causal ? "causal" : "full", length, causal);
}

}  // namespace bench
