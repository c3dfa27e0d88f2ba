#include "nn/attention/multi_head.h"

#include "autograd/ops/index.h"
#include "autograd/ops/shape.h"
#include "tensor/kernels/elementwise.h"

namespace heed {
namespace {

int64_t check_heads(int64_t embed_dim, int64_t num_heads) {
  check(embed_dim > 0 && num_heads > 0, "MultiheadAttention: embed_dim is ", embed_dim, ", num_heads ",
        num_heads, "; both must be positive");
  const int64_t rest = embed_dim % num_heads;
  check(rest == 0, "MultiheadAttention: embed_dim ", embed_dim, " does not divide into ", num_heads,
        " heads of one width; an embed_dim of ", embed_dim - rest + num_heads, " does");
  return num_heads;
}

// Queries (0), keys (1) or values (2) of all heads: [B, T, width] -> [B, H, T, D]. Three products with a
// third of the rows each: parts of one large result would cost a gradient as large as it for every part.
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
                  const Tensor& value, const KeyValueCache* cache) {
  check((query.dim() == 2 || query.dim() == 3) && query.size(-1) == layer.embed_dim,
        "MultiheadAttention: the query is ", query.shape(), "; it must be [B, Tq, ", layer.embed_dim,
        "], or [Tq, ", layer.embed_dim, "] without a batch");
  check(!layer.rotary || query.same_as(key), "MultiheadAttention: rotary positions are for self-attention");
  if (!key.defined() && !value.defined()) {
    check(cache && cache->length() > 0,
          "MultiheadAttention: there are no keys and values, and no cache that holds some");
    return;
  }
  const auto fits = [&](const Tensor& x, int64_t width) {
    return x.defined() && x.dim() == query.dim() && x.size(-1) == width &&
           (x.dim() == 2 || x.size(0) == query.size(0));
  };
  const auto shape = [](const Tensor& x) { return x.defined() ? x.shape() : Shape{}; };
  check(fits(key, layer.kdim) && fits(value, layer.vdim) && key.size(-2) == value.size(-2),
        "MultiheadAttention: the query is ", query.shape(), ", the key ", shape(key), ", the value ",
        shape(value), "; they must be [B, Tq, ", layer.embed_dim, "], [B, Tk, ", layer.kdim, "] and [B, Tk, ",
        layer.vdim, "], or all without B");
}

}  // namespace

// Note [Room to grow]: without history, positions are written behind those held, into memory with room for
// more than twice as many. What is held is never written again, since `used` is claimed by the one cache that
// goes on from there; another that shares the memory, a copy or one rolled back, goes on in memory of its
// own. So a copy costs nothing.
struct KeyValueCache::Room {
  Tensor keys, values;  // [B, H, capacity, D], [B, H, capacity, Dv]: what one head reads lies together
  std::atomic<int64_t> used;
};

void KeyValueCache::append(const Tensor& keys, const Tensor& values) {
  check(keys.dim() == 4 && values.dim() == 4 && keys.size(2) == values.size(2), "KeyValueCache: keys are ",
        keys.shape(), ", values ", values.shape(), "; they must be [B, H, T, D] and [B, H, T, Dv]");
  const int64_t held = length(), total = held + keys.size(2);
  const auto recorded = [](const Tensor& x) { return grad_enabled() && x.requires_grad(); };
  if (held == 0) {
    const auto own = [&](const Tensor& x) { return recorded(x) ? x : kernel::contiguous(x); };
    room_ = nullptr;
    std::tie(keys_, values_) = std::pair(own(keys), own(values));
    return;
  }
  check(keys.size(0) == keys_.size(0) && keys.size(1) == keys_.size(1), "KeyValueCache: keys ", keys.shape(),
        " do not go on from those held, ", keys_.shape(), " (select the rows of the batch?)");
  const auto grows = [&](const Tensor& x, const Tensor& more) {
    const Shape rest{x.size(0), x.size(1), more.size(2), x.size(3)};  // what does not fit, cat explains
    return more.shape() == rest && x.dtype() == more.dtype() && !recorded(x) && !recorded(more);
  };
  if (!grows(keys_, keys) || !grows(values_, values)) {
    std::tie(keys_, values_) = std::pair(cat({keys_, keys}, 2), cat({values_, values}, 2));
    room_ = nullptr;
    return;
  }

  const auto room_for = [&](const Tensor& x) {
    return Tensor::empty({x.size(0), x.size(1), 2 * total + 16, x.size(3)}, x.dtype());
  };
  const auto write = [](const Tensor& room, int64_t at, const Tensor& x) {
    kernel::copy_into(narrow(room, 2, at, x.size(2)), x);  // no version counts it: nobody read there
  };
  int64_t end = held;
  if (!room_ || total > room_->keys.size(2) || !room_->used.compare_exchange_strong(end, total)) {
    room_ = std::make_shared<Room>(room_for(keys_), room_for(values_), total);
    write(room_->keys, 0, keys_);
    write(room_->values, 0, values_);
  }
  write(room_->keys, held, keys);
  write(room_->values, held, values);
  keys_ = narrow(room_->keys, 2, 0, total);
  values_ = narrow(room_->values, 2, 0, total);
}

void KeyValueCache::roll_back(int64_t length) {
  check(length >= 0 && length <= this->length(), "KeyValueCache: cannot roll back to ", length,
        " positions, it holds ", this->length());
  if (length == this->length()) return;
  keys_ = narrow(keys_, 2, 0, length);
  values_ = narrow(values_, 2, 0, length);
}

void KeyValueCache::select(const Tensor& rows) {
  if (!keys_.defined()) return;
  const int64_t held = length();
  bool stays = rows.dtype() == int64 && rows.shape() == Shape{keys_.size(0)};
  int64_t next = 0;
  if (stays) rows.for_each([&](auto row) { stays &= static_cast<int64_t>(row) == next++; });
  if (stays) return;
  const auto of = [&](const Tensor& x) { return index_select(x, 0, rows); };
  if (room_) room_ = std::make_shared<Room>(of(room_->keys), of(room_->values), held);
  keys_ = room_ ? narrow(room_->keys, 2, 0, held) : of(keys_);
  values_ = room_ ? narrow(room_->values, 2, 0, held) : of(values_);
}

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
  F::check_dropout("MultiheadAttention", "dropout", dropout);
  check(kdim > 0 && vdim > 0, "MultiheadAttention: kdim is ", kdim, ", vdim ", vdim,
        "; both must be positive");
  check(!options.rotary || (kdim == embed_dim && vdim == embed_dim && embed_dim / num_heads % 2 == 0),
        "MultiheadAttention: rotary positions turn pairs and are for self-attention: embed_dim is ",
        embed_dim, ", kdim ", kdim, ", vdim ", vdim, ", the width of a head ", embed_dim / num_heads,
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

F::Attention MultiheadAttention::forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                         const AttendOptions& options) const {
  check_inputs(*this, query, key, value, options.cache);
  if (query.dim() == 2) {
    const auto batch = [](const Tensor& x) { return x.defined() ? unsqueeze(x, 0) : x; };
    const Tensor x = batch(query);
    auto [output, weights] = forward(x, query.same_as(key) ? x : batch(key), batch(value), options);
    return {squeeze(output, 0), weights.defined() ? squeeze(weights, 0) : weights};
  }

  // Each [B, H, T, D].
  Tensor q = project(*this, query, 0), k = project(*this, key, 1), v = project(*this, value, 2);
  const int64_t past = options.cache && k.defined() ? options.cache->length() : 0;
  if (rotary) {
    const RotaryPosition turn(embed_dim / num_heads);
    q = turn.forward(q, past);
    k = turn.forward(k, past);
  }
  KeyValueCache grown;  // takes the cache's place when all has gone well
  if (options.cache) {
    grown = *options.cache;
    if (k.defined()) grown.append(k, v);
    k = grown.keys();
    v = grown.values();
  }

  auto [heads, weights] = F::scaled_dot_product_attention(q, k, v,
                                                          {.mask = detail::for_heads(options.mask),
                                                           .bias = detail::for_heads(options.bias),
                                                           .is_causal = options.is_causal,
                                                           .past = past,
                                                           .dropout_p = training() ? dropout : 0,
                                                           .need_weights = options.need_weights});
  if (weights.defined() && options.average_attn_weights) weights = mean(weights, 1);
  const Tensor output = out_proj(flatten(transpose(heads, 1, 2), 2));  // [B, Tq, E]
  if (options.cache) *options.cache = std::move(grown);
  return {output, weights};
}

}  // namespace heed
