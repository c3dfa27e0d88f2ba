// Attention: additive scores, several heads, long sequences; forward and backward.
#include "bench.h"

namespace bench {
// softmax(s) v with the scores s = w_v . tanh(W_q q + W_k k): one query for 10 keys, 64 times.
void attention_scores_additive(State& state) {
  const Tensor q = leaf({64, 1, 256}), k = leaf({64, 10, 256}), v = leaf({64, 10, 256});
  const heed::AttentionPooling<heed::AdditiveScore> attention(heed::AdditiveScore(256, 256, 256));
  const heed::AdditiveScore& score = attention.score;
  time_forward_backward(state, {q, k, v, score.W_q.weight, score.W_k.weight, score.w_v.weight},
                        [&] { return attention(q, k, v).output; });
}

// Self-attention of x [batch, length, width] with projections before and behind.
void mha_step(State& state, int64_t batch, int64_t length, int64_t width, int64_t heads) {
  const Tensor x = leaf({batch, length, width});
  const heed::MultiheadAttention attention(width, heads);
  std::vector<Tensor> leaves = attention.parameters();
  leaves.push_back(x);
  time_forward_backward(state, leaves, [&] { return attention(x).output; });
}

// softmax(q k^T / 8 + mask) v, 8 heads of width 64. Two products forward and five backward if the scores are
// not kept, four if they are; what is counted is six, dense.
void attention_long(State& state, int64_t length, bool is_causal) {
  const Tensor q = leaf({1, 8, length, 64}), k = leaf({1, 8, length, 64}), v = leaf({1, 8, length, 64});
  time_forward_backward(state, {q, k, v}, [&] {
    return heed::F::scaled_dot_product_attention(q, k, v, {.is_causal = is_causal}).output;
  });
  count_flops(state, 12.0 * 8 * 64 * static_cast<double>(length * length));
}

// Causal attention as in attention_long, in another form: keys and values have `groups` heads; with `biased`
// a bias for each head and distance is learned.
static void attention_form(State& state, int64_t length, int64_t groups, bool biased,
                           heed::AttentionOptions options) {
  const Tensor q = leaf({1, 8, length, 64}), k = leaf({1, groups, length, 64}),
               v = leaf({1, groups, length, 64});
  std::vector<Tensor> leaves{q, k, v};
  if (biased) leaves.push_back(options.position_bias = leaf({8, 2 * length - 1}));
  options.is_causal = options.enable_gqa = true;
  time_forward_backward(state, leaves,
                        [&] { return heed::F::scaled_dot_product_attention(q, k, v, options).output; });
  count_flops(state, 12.0 * 8 * 64 * static_cast<double>(length * length));
}

// Attention with a state at the size of attention_long, by each rule; decays for each head or each key.
static void linear_attention(State& state, heed::LinearRule rule, bool decays, bool per_key, bool corrects) {
  const int64_t T = 8192;
  const Tensor q = leaf({1, 8, T, 64}), v = leaf({1, 8, T, 64});
  const Tensor k = (heed::randn({1, 8, T, 64}) * 0.125).requires_grad_();
  const auto between = [&](double low, double high, int64_t width) {
    return (heed::rand({1, 8, T, width}) * (high - low) + low).requires_grad_();
  };
  const Tensor g = decays ? between(-0.1, 0, per_key ? 64 : 1) : Tensor();
  const Tensor beta = corrects ? between(0, 1, 1) : Tensor();
  std::vector<Tensor> leaves{q, k, v};
  for (const Tensor& x : {g, beta})
    if (x.defined()) leaves.push_back(x);
  time_forward_backward(state, leaves, [&] {
    return heed::F::linear_attention(q, k, v, {.rule = rule, .decay = g, .beta = beta}).output;
  });
}

// heed's alone: beside attention_long/causal.
void add_second_ways() {
  const auto add_form = [](const std::string& form, int64_t groups, bool biased,
                           const heed::AttentionOptions& options) {
    for (const int64_t length : {512, 1024, 2048, 4096, 8192})
      add("attention_long/" + form + "/" + std::to_string(length), [=](State& state) {
        attention_form(state, length, groups, biased, options);
      })->Unit(benchmark::kMillisecond);
  };
  add_form("grouped", 2, false, {});
  add_form("window", 8, false, {.window = 256, .sinks = 4});
  add_form("biased", 8, true, {});
  add_form("capped", 8, false, {.soft_cap = 30});
  using heed::LinearRule;
  const auto add_rule = [](const char* name, LinearRule rule, bool decays, bool per_key, bool corrects) {
    add(std::string("linear_attention/") + name, [=](State& state) {
      linear_attention(state, rule, decays, per_key, corrects);
    })->Unit(benchmark::kMillisecond);
  };
  add_rule("linear", LinearRule::linear, false, false, false);
  add_rule("gated", LinearRule::gated, true, false, false);
  add_rule("gated_keys", LinearRule::gated, true, true, false);
  add_rule("delta", LinearRule::delta, false, false, true);
  add_rule("gated_delta", LinearRule::gated_delta, true, false, true);
}

}  // namespace bench
