// Parts of transformers that libtorch does not have, or has slower. Parameters are in the order of heed's.
#pragma once

#include <cmath>
#include <limits>

#include "bench.h"

namespace bench {

// How queries attend to keys.
struct Attend {
  Tensor mask = {};  // added to the scores [B, H, Tq, Tk]
  bool causal = false;
  double dropout = 0;  // of the weights
};

// Every position attends to itself and those before, among `length` at most.
inline Attend causal(int64_t length) {
  return {torch::full({length, length}, -std::numeric_limits<float>::infinity()).triu(1), true};
}

// softmax(q k^T / sqrt(d) + mask) v in single operations.
inline Tensor attend_unfused(const Tensor& q, const Tensor& k, const Tensor& v, const Attend& how = {}) {
  Tensor scores = torch::matmul(q / std::sqrt(static_cast<double>(q.size(-1))), k.transpose(-2, -1));
  if (how.causal) {
    scores.add_(how.mask.slice(0, 0, q.size(-2)).slice(1, 0, k.size(-2)));
  } else if (how.mask.defined()) {
    scores.add_(how.mask);
  }
  return torch::matmul(torch::dropout(torch::softmax(scores, -1), how.dropout, /*train=*/true), v);
}

// The same, fused where libtorch can: from 2.0 on, and unless weights are dropped.
inline Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const Attend& how = {}) {
#if TORCH_VERSION_MAJOR >= 2
  if (how.dropout == 0) {
    std::optional<Tensor> mask;
    if (how.mask.defined() && !how.causal) mask = how.mask.to(q.scalar_type());
    return at::scaled_dot_product_attention(q, k, v, mask, 0, how.causal);
  }
#endif
  return attend_unfused(q, k, v, how);
}

inline Tensor split_heads(const Tensor& x, int64_t heads) {  // [B, T, D] -> [B, H, T, d]
  return x.view({x.size(0), x.size(1), heads, -1}).transpose(1, 2);
}
inline Tensor join_heads(const Tensor& x) {
  return x.transpose(1, 2).flatten(2);
}  // [B, H, T, d] -> [B, T, D]

// Room for the keys and values of all positions, and how many are there.
struct Cache {
  Tensor keys, values;  // [B, H, T, d]
  int64_t length = 0;

  void append(const Tensor& k, const Tensor& v) {
    keys.narrow(2, length, k.size(2)).copy_(k);
    values.narrow(2, length, k.size(2)).copy_(v);
    length += k.size(2);
  }
};

// Attention of x [B, T, D] to itself, and to what the cache holds.
struct SelfAttentionImpl : torch::nn::Module {
  SelfAttentionImpl(int64_t width, int64_t heads)
      : heads(heads),
        in(register_module("in", torch::nn::Linear(width, 3 * width))),
        out(register_module("out", torch::nn::Linear(width, width))) {}

  Tensor forward(const Tensor& x, const Attend& how = {}, Cache* cache = nullptr) {
    const std::vector<Tensor> parts = in(x).chunk(3, -1);
    const Tensor q = split_heads(parts[0], heads);
    Tensor k = split_heads(parts[1], heads), v = split_heads(parts[2], heads);
    if (cache != nullptr) {
      cache->append(k, v);
      k = cache->keys.narrow(2, 0, cache->length);
      v = cache->values.narrow(2, 0, cache->length);
    }
    return out(join_heads(attend(q, k, v, how)));
  }

  int64_t heads;
  torch::nn::Linear in, out;
};
TORCH_MODULE(SelfAttention);

// Attention of x to a memory, whose keys and values may be computed once.
struct CrossAttentionImpl : torch::nn::Module {
  CrossAttentionImpl(int64_t width, int64_t heads)
      : heads(heads),
        q_weight(matrix("q_weight", width, width)),
        kv_weight(matrix("kv_weight", 2 * width, width)),
        q_bias(register_parameter("q_bias", torch::zeros({width}))),
        kv_bias(register_parameter("kv_bias", torch::zeros({2 * width}))),
        out(register_module("out", torch::nn::Linear(width, width))) {}

  std::vector<Tensor> keys_values(const Tensor& memory) const {
    const std::vector<Tensor> parts = torch::linear(memory, kv_weight, kv_bias).chunk(2, -1);
    return {split_heads(parts[0], heads), split_heads(parts[1], heads)};
  }
  Tensor forward(const Tensor& x, const std::vector<Tensor>& keys_values, const Attend& how = {}) {
    const Tensor q = split_heads(torch::linear(x, q_weight, q_bias), heads);
    return out(join_heads(attend(q, keys_values[0], keys_values[1], how)));
  }

  int64_t heads;
  Tensor q_weight, kv_weight, q_bias, kv_bias;
  torch::nn::Linear out;

 private:
  Tensor matrix(const char* name, int64_t out_width, int64_t in_width) {
    return register_parameter(name, torch::nn::init::xavier_uniform_(torch::empty({out_width, in_width})));
  }
};
TORCH_MODULE(CrossAttention);

struct LayerOptions {
  int64_t width, heads, feedforward;
  double dropout = 0;  // of weights, and of what each part adds
  bool norm_first = false, gelu = false;
};

// W_2 activation(W_1 x + b_1) + b_2
struct FeedForwardImpl : torch::nn::Module {
  explicit FeedForwardImpl(const LayerOptions& options)
      : gelu(options.gelu),
        linear1(register_module("linear1", torch::nn::Linear(options.width, options.feedforward))),
        linear2(register_module("linear2", torch::nn::Linear(options.feedforward, options.width))) {}
  Tensor forward(const Tensor& x) {
    const Tensor h = linear1(x);
    return linear2(gelu ? torch::gelu(h) : torch::relu(h));
  }

  bool gelu;
  torch::nn::Linear linear1, linear2;
};
TORCH_MODULE(FeedForward);

inline torch::nn::LayerNorm layer_norm(int64_t width) {
  return torch::nn::LayerNorm(torch::nn::LayerNormOptions({width}));
}

// Self-attention and a feed-forward part; each adds to its input, with a norm before it or behind the sum.
struct EncoderLayerImpl : torch::nn::Module {
  explicit EncoderLayerImpl(const LayerOptions& options)
      : options(options),
        attention(register_module("attention", SelfAttention(options.width, options.heads))),
        feed_forward(register_module("feed_forward", FeedForward(options))),
        norm1(register_module("norm1", layer_norm(options.width))),
        norm2(register_module("norm2", layer_norm(options.width))) {}

  Tensor forward(const Tensor& x, Attend how) {
    const double p = is_training() ? options.dropout : 0;
    how.dropout = p;
    if (options.norm_first) {
      const Tensor y = x + torch::dropout(attention(norm1(x), how), p, true);
      return y + torch::dropout(feed_forward(norm2(y)), p, true);
    }
    const Tensor y = norm1(x + torch::dropout(attention(x, how), p, true));
    return norm2(y + torch::dropout(feed_forward(y), p, true));
  }

  LayerOptions options;
  SelfAttention attention;
  FeedForward feed_forward;
  torch::nn::LayerNorm norm1, norm2;
};
TORCH_MODULE(EncoderLayer);

}  // namespace bench
