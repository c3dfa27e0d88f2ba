// Attention: additive scores, several heads, long sequences; forward and backward.
#include "layers.h"

namespace bench {
namespace {

// softmax(s) v with the scores s = w_v . tanh(W_q q + W_k k): one query for 10 keys, 64 times.
void additive(State& state) {
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
void add_heads(int64_t batch, int64_t length, int64_t width, int64_t heads) {
  const std::string size = "/" + std::to_string(batch) + "x" + std::to_string(length) + "x" +
                           std::to_string(width) + "h" + std::to_string(heads);
  add("mha_step" + size, [=](State& state) {
    const Tensor x = leaf({batch, length, width});
    SelfAttention attention(width, heads);
    std::vector<Tensor> leaves = attention->parameters();
    leaves.push_back(x);
    time_forward_backward(state, leaves, [&] { return attention(x); });
  })->Unit(benchmark::kMillisecond);

  add("mha_step_nnmodule" + size, [=](State& state) {
    const Tensor x = leaf({length, batch, width});
    torch::nn::MultiheadAttention attention(width, heads);
    std::vector<Tensor> leaves = attention->parameters();
    leaves.push_back(x);
    time_forward_backward(state, leaves, [&] {
      return std::get<0>(attention->forward(x, x, x, /*key_padding_mask=*/{}, /*need_weights=*/false));
    });
  })->Unit(benchmark::kMillisecond);
}

// attention(q, k, v, how) with 8 heads of width 64. What is counted is six products, dense.
template <class Attention>
void add_long(const std::string& family, int64_t length, bool is_causal, Attention attention) {
  const std::string name = family + (is_causal ? "/causal/" : "/full/") + std::to_string(length);
  auto* workload = add(name, [=](State& state) {
    const Tensor q = leaf({1, 8, length, 64}), k = leaf({1, 8, length, 64}), v = leaf({1, 8, length, 64});
    const Attend how = is_causal ? causal(length) : Attend();
    time_forward_backward(state, {q, k, v}, [&] { return attention(q, k, v, how); });
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
  for (const bool is_causal : {false, true}) {
    for (const int64_t length : {512, 1024, 2048, 4096, 8192}) {
      add_long("attention_long", length, is_causal, attend);
#if TORCH_VERSION_MAJOR < 2
      const auto stock = [](const Tensor& q, const Tensor& k, const Tensor& v, const Attend& how) {
        return std::get<0>(
            at::_scaled_dot_product_attention(q, k, v, {}, 0, /*need_attn_weights=*/false, how.causal));
      };
      add_long("attention_long_atsdpa", length, is_causal, stock);
#endif
    }
  }
}

}  // namespace bench
