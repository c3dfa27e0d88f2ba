// Attention: additive scores, several heads, long sequences; forward and backward.
#include "layers.h"

namespace bench {
// softmax(s) v with the scores s = w_v . tanh(W_q q + W_k k): one query for 10 keys, 64 times.
void attention_scores_additive(State& state) {
  const Tensor q = leaf({64, 1, 256}), k = leaf({64, 10, 256}), v = leaf({64, 10, 256});
  const auto linear = [](int64_t in, int64_t out) {
    return torch::nn::Linear(torch::nn::LinearOptions(in, out).bias(false));
  };
  torch::nn::Linear to_q = linear(256, 256), to_k = linear(256, 256), to_score = linear(256, 1);
  time_forward_backward(state, {q, k, v, to_q->weight, to_k->weight, to_score->weight}, [&] {
    const Tensor f = torch::tanh(to_q(q).unsqueeze(2) + to_k(k).unsqueeze(1));  // [64, 1, 10, 256]
    return torch::bmm(torch::softmax(to_score(f).squeeze(-1), -1), v);
  });
}

// Self-attention of x [batch, length, width] with projections before and behind.
void mha_step(State& state, int64_t batch, int64_t length, int64_t width, int64_t heads) {
  const Tensor x = leaf({batch, length, width});
  SelfAttention attention(width, heads);
  std::vector<Tensor> leaves = attention->parameters();
  leaves.push_back(x);
  time_forward_backward(state, leaves, [&] { return attention(x); });
}

void mha_step_nnmodule(State& state, int64_t batch, int64_t length, int64_t width, int64_t heads) {
  const Tensor x = leaf({length, batch, width});
  torch::nn::MultiheadAttention attention(width, heads);
  std::vector<Tensor> leaves = attention->parameters();
  leaves.push_back(x);
  time_forward_backward(state, leaves, [&] {
    return std::get<0>(attention->forward(x, x, x, /*key_padding_mask=*/{}, /*need_weights=*/false));
  });
}

// attention(q, k, v, how) with 8 heads of width 64. What is counted is six products, dense.
template <class Attention>
static void attention_long(State& state, int64_t length, bool is_causal, Attention attention) {
  const Tensor q = leaf({1, 8, length, 64}), k = leaf({1, 8, length, 64}), v = leaf({1, 8, length, 64});
  const Attend how = is_causal ? causal(length) : Attend();
  time_forward_backward(state, {q, k, v}, [&] { return attention(q, k, v, how); });
  count_flops(state, 12.0 * 8 * 64 * static_cast<double>(length * length));
}

void attention_long(State& state, int64_t length, bool is_causal) {
  attention_long(state, length, is_causal, attend);
}

#if TORCH_VERSION_MAJOR < 2
void attention_long_atsdpa(State& state, int64_t length, bool is_causal) {
  attention_long(
      state, length, is_causal, [](const Tensor& q, const Tensor& k, const Tensor& v, const Attend& how) {
        return std::get<0>(
            at::_scaled_dot_product_attention(q, k, v, {}, 0, /*need_attn_weights=*/false, how.causal));
      });
}
#endif

}  // namespace bench
