#include "nn/attention/multi_head.h"

#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"
#include "nn/attention/position.h"

namespace heed {
namespace {

constexpr const char* kName = "MultiheadAttention";

int64_t check_heads(int64_t embed_dim, int64_t num_heads) {
  check_in(kName, embed_dim > 0 && num_heads > 0, "embed_dim is ", embed_dim, ", num_heads ", num_heads,
           "; both must be positive");
  const int64_t rest = embed_dim % num_heads;
  check_in(kName, rest == 0, "embed_dim ", embed_dim, " does not divide into ", num_heads,
           " heads of one width; an embed_dim of ", embed_dim - rest + num_heads, " does");
  return num_heads;
}

// Queries (0), keys (1) or values (2) of all heads: [B, T, width] -> [B, H, T, D]. Each product uses a third
// of the rows of in_proj_weight. Slicing one large product would cost three gradients of its size.
Tensor project(const MultiheadAttention& layer, const Tensor& x, int64_t which) {
  if (!x.defined()) return x;
  const Parameter* own[] = {&layer.q_proj_weight, &layer.k_proj_weight, &layer.v_proj_weight};
  const auto rows = [&](const Tensor& whole, const Tensor& otherwise) {
    return whole.defined() ? narrow(whole, 0, which * layer.embed_dim, layer.embed_dim) : otherwise;
  };
  const Tensor y = linear(x, rows(layer.in_proj_weight, *own[which]), rows(layer.in_proj_bias, {}));
  const int64_t width = layer.embed_dim / layer.num_heads;
  return transpose(view(y, {y.size(0), y.size(1), layer.num_heads, width}), 1, 2);
}

void check_inputs(const MultiheadAttention& layer, const Tensor& query, const Tensor& key,
                  const Tensor& value, const AttentionOptions& options, const KeyValueCache* cache) {
  check_in(kName, (query.dim() == 2 || query.dim() == 3) && query.size(-1) == layer.embed_dim,
           "the query is ", query.shape(), "; it must be [B, Tq, ", layer.embed_dim, "], or [Tq, ",
           layer.embed_dim, "] without a batch");
  check_in(kName, options.past == 0 && options.dropout_p == 0,
           "past is the length of the cache, and dropout_p an option of the layer");
  check_in(kName, !layer.rotary || query.same_as(key), "rotary positions are for self-attention");
  if (!key.defined() && !value.defined()) {
    check_in(kName, cache && cache->length() > 0,
             "there are no keys and values, and no cache that holds some");
    return;
  }
  const auto fits = [&](const Tensor& x, int64_t width) {
    return x.defined() && x.dim() == query.dim() && x.size(-1) == width &&
           (x.dim() == 2 || x.size(0) == query.size(0));
  };
  const auto shape = [](const Tensor& x) { return x.defined() ? x.shape() : Shape{}; };
  check_in(kName, fits(key, layer.kdim) && fits(value, layer.vdim) && key.size(-2) == value.size(-2),
           "the query is ", query.shape(), ", the key ", shape(key), ", the value ", shape(value),
           "; they must be [B, Tq, ", layer.embed_dim, "], [B, Tk, ", layer.kdim, "] and [B, Tk, ",
           layer.vdim, "], or all without B");
}

}  // namespace

MultiheadAttention::MultiheadAttention(int64_t embed_dim, int64_t num_heads,
                                       MultiheadAttentionOptions options)
    : embed_dim(embed_dim),
      num_heads(check_heads(embed_dim, num_heads)),
      kdim(options.kdim.value_or(embed_dim)),
      vdim(options.vdim.value_or(embed_dim)),
      dropout(options.dropout),
      rotary(options.rotary),
      in_proj_bias(options.bias ? init::zeros({3 * embed_dim}) : Tensor()),
      out_proj(embed_dim, embed_dim, {.bias = options.bias}) {
  F::check_dropout(kName, "dropout", dropout);
  check_in(kName, kdim > 0 && vdim > 0, "kdim is ", kdim, ", vdim ", vdim, "; both must be positive");
  check_in(kName,
           !options.rotary || (kdim == embed_dim && vdim == embed_dim && embed_dim / num_heads % 2 == 0),
           "rotary positions rotate pairs and are for self-attention: embed_dim is ", embed_dim, ", kdim ",
           kdim, ", vdim ", vdim, ", the width of a head ", embed_dim / num_heads,
           "; the first three must be equal and the last even");
  if (kdim == embed_dim && vdim == embed_dim) {
    in_proj_weight = init::xavier_uniform({3 * embed_dim, embed_dim});
  } else {
    q_proj_weight = init::xavier_uniform({embed_dim, embed_dim});
    k_proj_weight = init::xavier_uniform({embed_dim, kdim});
    v_proj_weight = init::xavier_uniform({embed_dim, vdim});
  }
  if (options.bias) out_proj.bias = init::zeros({embed_dim});
}

AttentionResult MultiheadAttention::forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                            const AttentionOptions& options, KeyValueCache* cache) const {
  check_inputs(*this, query, key, value, options, cache);
  const bool batched = query.dim() == 3;
  const auto batch = [&](const Tensor& x) { return batched || !x.defined() ? x : unsqueeze(x, 0); };
  const Tensor x = batch(query), keys = query.same_as(key) ? x : batch(key);

  // Each [B, H, T, D].
  Tensor q = project(*this, x, 0), k = project(*this, keys, 1), v = project(*this, batch(value), 2);
  AttentionOptions of_heads = options;
  of_heads.mask = detail::for_heads(options.mask);
  of_heads.bias = detail::for_heads(options.bias);
  of_heads.past = cache && k.defined() ? cache->length() : 0;
  of_heads.dropout_p = training() ? dropout : 0;
  if (rotary) {
    const RotaryPosition rotate(embed_dim / num_heads);
    q = rotate.forward(q, of_heads.past);
    k = rotate.forward(k, of_heads.past);
  }
  KeyValueCache grown;
  if (cache) {
    grown = *cache;
    if (k.defined()) grown.append(k, v);
    k = grown.keys();
    v = grown.values();
  }

  auto [heads, weights] = F::scaled_dot_product_attention(q, k, v, of_heads);
  if (weights.defined() && options.average_attn_weights) weights = mean(weights, 1);
  const Tensor output = out_proj(flatten(transpose(heads, 1, 2), 2));  // [B, Tq, E]
  if (cache) *cache = std::move(grown);  // last: an error leaves the cache unchanged
  const auto result = [&](const Tensor& y) { return batched || !y.defined() ? y : squeeze(y, 0); };
  return {result(output), result(weights)};
}

}  // namespace heed
