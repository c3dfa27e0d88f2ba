#include "nn/attention/multi_head.h"

#include "autograd/ops/basic.h"

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

// The width of the queries and keys whose products are scores.
int64_t score_width(const MultiheadAttention& layer) {
  const int64_t D = layer.embed_dim / layer.num_heads;
  return layer.form.differential ? D / 2 : D;
}

void check_form(const MultiheadAttention& layer) {
  const MultiheadAttentionOptions& form = layer.form;
  const int64_t E = layer.embed_dim, H = layer.num_heads, Hkv = layer.num_kv_heads,
                width = score_width(layer);
  F::check_dropout(kName, "dropout", form.dropout);
  check_in(kName, layer.kdim > 0 && layer.vdim > 0, "kdim is ", layer.kdim, ", vdim ", layer.vdim,
           "; both must be positive");
  check_in(kName, Hkv > 0 && H % Hkv == 0, "num_heads is ", H, ", num_kv_heads ", Hkv,
           "; the second must divide the first");
  check_in(kName, !form.rotary || (layer.kdim == E && layer.vdim == E && width % 2 == 0),
           "rotary positions rotate pairs and are for self-attention: embed_dim is ", E, ", kdim ",
           layer.kdim, ", vdim ", layer.vdim, ", the width of a head ", width,
           "; the first three must be equal and the last even");
  check_in(kName, !form.differential || E / H % 2 == 0, "the width of a head is ", E / H,
           "; differential attention halves it, so it must be even");
  check_in(kName, std::min({form.latent_dim, form.latent_rotary_dim, form.memory_tokens}) >= 0,
           "latent_dim, latent_rotary_dim or memory_tokens is negative");
  check_in(kName, form.latent_dim > 0 || form.latent_rotary_dim == 0,
           "latent_rotary_dim is for latents: give latent_dim");
  const bool scores = form.qk_norm || form.differential || form.relative_score;
  check_in(kName, form.latent_dim == 0 || !(scores || form.rotary || form.num_kv_heads || form.core),
           "latents are one head of keys without positions: latent_dim excludes rotary ",
           "(give latent_rotary_dim), num_kv_heads, qk_norm, differential, relative_score and core");
  const bool of_scores = form.position_bias || form.relative_score || form.soft_cap > 0 || form.window ||
                         form.sinks > 0 || form.sink_logit || form.memory_tokens > 0 || form.differential ||
                         form.talking_heads;
  check_in(kName, !form.core || !of_scores,
           "a core has no scores: it excludes position_bias, relative_score, soft_cap, window, sinks, ",
           "sink_logit, memory_tokens, differential and talking_heads");
}

Shape shape_of(const Tensor& x) { return x.defined() ? x.shape() : Shape{}; }

void check_inputs(const MultiheadAttention& layer, const Tensor& query, const Tensor& key,
                  const Tensor& value, const AttentionOptions& options, const KeyValueCache* cache) {
  check_in(kName, (query.dim() == 2 || query.dim() == 3) && query.size(-1) == layer.embed_dim,
           "the query is ", query.shape(), "; it must be [B, Tq, ", layer.embed_dim, "], or [Tq, ",
           layer.embed_dim, "] without a batch");
  check_in(kName, (options.past == 0 || !key.defined()) && options.dropout_p == 0,
           "past is the length of the cache, and dropout_p an option of the layer");
  check_in(kName, (!layer.form.rotary && layer.form.latent_rotary_dim == 0) || query.same_as(key),
           "rotary positions are for self-attention");
  check_in(kName, !layer.form.core || !options.need_weights,
           "a core has no weights; an AttentionScope sees those that it computes");
  if (!key.defined() && !value.defined())
    return check_in(kName, cache && cache->length() > 0,
                    "there are no keys and values, and no cache that holds some");
  const auto fits = [&](const Tensor& x, int64_t width) {
    return x.defined() && x.dim() == query.dim() && x.size(-1) == width &&
           (x.dim() == 2 || x.size(0) == query.size(0));
  };
  check_in(kName, fits(key, layer.kdim) && fits(value, layer.vdim) && key.size(-2) == value.size(-2),
           "the query is ", query.shape(), ", the key ", shape_of(key), ", the value ", shape_of(value),
           "; they must be [B, Tq, ", layer.embed_dim, "], [B, Tk, ", layer.kdim, "] and [B, Tk, ",
           layer.vdim, "], or all without B");
  check_in(kName, layer.form.latent_dim == 0 || value.same_as(key),
           "latents are keys and values in one: give the key as the value");
}

struct Projected {
  Tensor q, k, v;
};

// Vectors of length sqrt(width), as those of qk_norm.
Tensor of_one_length(const Tensor& x) { return rms_norm(x, {x.size(-1)}, {}, 1e-12); }

// Latents c and rotated parts r: queries [W_h^T q_h, r_h] and keys [c, r], whose first part is the value.
Projected project_latents(const MultiheadAttention& layer, const Linear& kv_a, const Linear& kv_b,
                          const Tensor& x, const Tensor& keys, int64_t past) {
  const int64_t D = layer.embed_dim / layer.num_heads, L = layer.form.latent_dim,
                R = layer.form.latent_rotary_dim;
  const auto rotated = [&](const Tensor& y, const Tensor& first, int64_t begin) {
    if (R == 0) return first;
    const RotaryPosition rotate(R, layer.form.rotary_scaling);
    return cat({first, rotate.forward(narrow(y, -1, begin, R), past)}, -1);
  };
  const Tensor up = view(kv_b.weight, {layer.num_heads, 2 * D, L});
  const Tensor q = detail::as_heads(linear(x, layer.q_proj_weight), layer.num_heads);
  const Tensor queries = rotated(q, matmul(narrow(q, -1, 0, D), narrow(up, 1, 0, D)), D);
  if (!keys.defined()) return {queries, {}, {}};
  const Tensor c = unsqueeze(kv_a(keys), 1);
  return {queries, rotated(c, narrow(c, -1, 0, L), L), narrow(c, -1, 0, 0)};
}

// Each [B, heads, T, D], of the positions after `past`. Each product uses its rows of in_proj_weight: slicing
// one large product would cost three gradients of its size.
Projected project_all(const MultiheadAttention& layer, const Tensor& x, const Tensor& keys,
                      const Tensor& values, int64_t past) {
  const MultiheadAttentionOptions& form = layer.form;
  if (layer.kv_a_proj && layer.kv_b_proj)
    return project_latents(layer, *layer.kv_a_proj, *layer.kv_b_proj, x, keys, past);
  const int64_t E = layer.embed_dim, D = E / layer.num_heads, kv = layer.num_kv_heads * D;
  const auto parts = [&](const Tensor& joined, const std::vector<Tensor>& otherwise) {
    return joined.defined() ? split(joined, {E, kv, kv}) : otherwise;
  };
  const auto weights =
      parts(layer.in_proj_weight, {layer.q_proj_weight, layer.k_proj_weight, layer.v_proj_weight});
  const auto biases = parts(layer.in_proj_bias, std::vector<Tensor>(3));
  const auto project = [&](const Tensor& y, size_t i, int64_t heads) {
    return y.defined() ? detail::as_heads(linear(y, weights[i], biases[i]), heads) : y;
  };
  const int64_t width = score_width(layer);
  Projected all{project(x, 0, E / width), project(keys, 1, kv / width),
                project(values, 2, layer.num_kv_heads)};
  for (Tensor* y : {&all.q, &all.k}) {
    if (form.qk_norm && y->defined()) *y = of_one_length(*y);
    if (form.rotary) *y = RotaryPosition(width, form.rotary_scaling).forward(*y, past);
  }
  if (form.qk_norm) all.q = all.q * layer.qk_scale;
  return all;
}

// Prepends the memory tokens to keys and values.
void add_memory(const MultiheadAttention& layer, Projected& all, AttentionOptions& options) {
  const int64_t tokens = layer.form.memory_tokens, keys = all.k.size(2);
  if (tokens == 0) return;
  const auto joined = [&](const Tensor& memory, const Tensor& x) {
    return cat({expand(memory, {x.size(0), -1, -1, -1}), x}, 2);
  };
  all.k = joined(layer.form.qk_norm ? of_one_length(layer.memory_k) : Tensor(layer.memory_k), all.k);
  if (layer.memory_v.defined()) all.v = joined(layer.memory_v, all.v);
  const auto widened = [&](const Tensor& x, Scalar value) {  // a mask or bias, with a value for the tokens
    return x.defined() ? pad(expand(x, broadcast_shapes(x.shape(), {keys})), {tokens, 0}, value) : x;
  };
  options.mask = widened(options.mask, 1);
  options.bias = widened(options.bias, 0);
  options.past += tokens;
  if (options.window) options.sinks += tokens;
}

Tensor sum_of(const Tensor& a, const Tensor& b) { return a.defined() ? a + b : b; }

// Outputs [B, H, Tq, D] and weights by the scores of all queries and keys.
AttentionResult attend_by_scores(const MultiheadAttention& layer, Projected all, AttentionOptions options) {
  const MultiheadAttentionOptions& form = layer.form;
  const int64_t D = layer.embed_dim / layer.num_heads, L = form.latent_dim;
  options.enable_gqa = true;
  if (form.soft_cap > 0) options.soft_cap = form.soft_cap;
  if (form.window) options.window = form.window;
  if (form.sinks > 0) options.sinks = form.sinks;
  if (layer.sinks.defined()) options.sink_logit = layer.sinks;
  add_memory(layer, all, options);
  if (form.qk_norm) options.scale = options.scale.value_or(1 / static_cast<double>(score_width(layer)));
  if (L > 0) {
    options.scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(D + form.latent_rotary_dim)));
    all.v = narrow(all.k, -1, 0, L);
  }
  const auto distances = [&, Tq = all.q.size(2), Tk = all.k.size(2)] {
    return arange(std::max<int64_t>(0, Tq + Tk - 1), all.q.dtype()) - (options.past + Tq - 1);
  };
  if (form.position_bias)
    options.position_bias = sum_of(options.position_bias, (*form.position_bias)(distances()));
  const auto mixture = [](const Tensor& m) {  // y_g = sum_h m_hg x_h for heads h, g
    return [m](const Tensor& x) { return view(matmul(t(m), flatten(x, 2)), x.shape()); };
  };
  if (form.talking_heads) {
    options.score_map = mixture(layer.mix_scores);
    options.weight_map = mixture(layer.mix_weights);
  }

  const auto attend = [&](const Tensor& q, const Tensor& k) {
    AttentionOptions with_score = options;
    if (form.relative_score)
      with_score.bias =
          sum_of(options.bias, (*form.relative_score)(q, detail::repeat_heads(k, q.size(1)), distances()));
    return F::scaled_dot_product_attention(q, k, all.v, with_score);
  };
  if (layer.subln) {  // differential
    const auto half = [](const Tensor& x, int64_t i) { return slice(x, 1, i, x.size(1), 2); };
    const AttentionResult first = attend(half(all.q, 0), half(all.k, 0)),
                          second = attend(half(all.q, 1), half(all.k, 1));
    const Tensor lambda = exp(sum(layer.lambda_q1 * layer.lambda_k1)) -
                          exp(sum(layer.lambda_q2 * layer.lambda_k2)) + form.lambda_init;
    const Tensor weights = first.weights.defined() ? first.weights - lambda * second.weights : Tensor();
    return {(*layer.subln)(first.output - lambda * second.output) * (1 - form.lambda_init), weights};
  }
  AttentionResult result = attend(all.q, all.k);
  if (layer.kv_b_proj) {  // sum_j p_ij W c_j = W sum_j p_ij c_j
    const Tensor up = view(layer.kv_b_proj->weight, {layer.num_heads, 2 * D, L});
    result.output = matmul(result.output, transpose(narrow(up, 1, D, D)));
  }
  return result;
}

}  // namespace

MultiheadAttention::MultiheadAttention(int64_t embed_dim, int64_t num_heads,
                                       MultiheadAttentionOptions options)
    : embed_dim(embed_dim),
      num_heads(check_heads(embed_dim, num_heads)),
      num_kv_heads(options.num_kv_heads.value_or(num_heads)),
      kdim(options.kdim.value_or(embed_dim)),
      vdim(options.vdim.value_or(embed_dim)),
      form(std::move(options)),
      out_proj(embed_dim, embed_dim, {.bias = form.bias}) {
  check_form(*this);
  const int64_t D = embed_dim / num_heads, kv = num_kv_heads * D, L = form.latent_dim,
                R = form.latent_rotary_dim, tokens = form.memory_tokens;
  const LinearOptions no_bias{.bias = false};
  if (L > 0) {
    q_proj_weight = init::xavier_uniform({num_heads * (D + R), embed_dim});
    kv_a_proj.emplace(kdim, L + R, no_bias);
    kv_b_proj.emplace(L, num_heads * 2 * D, no_bias);
  } else if (kdim == embed_dim && vdim == embed_dim) {
    in_proj_weight = init::xavier_uniform({embed_dim + 2 * kv, embed_dim});
  } else {
    q_proj_weight = init::xavier_uniform({embed_dim, embed_dim});
    k_proj_weight = init::xavier_uniform({kv, kdim});
    v_proj_weight = init::xavier_uniform({kv, vdim});
  }
  if (form.bias) out_proj.bias = init::zeros({embed_dim});
  if (form.bias && L == 0) in_proj_bias = init::zeros({embed_dim + 2 * kv});

  if (form.gate != HeadGate::none)
    gate_proj.emplace(embed_dim, form.gate == HeadGate::headwise ? num_heads : embed_dim, no_bias);
  if (form.qk_norm) qk_scale = init::constant({1}, *form.qk_norm);
  if (form.sink_logit) sinks = init::zeros({num_heads});
  if (tokens > 0) {
    const int64_t width = L > 0 ? L + R : score_width(*this);
    memory_k = init::normal({L > 0 ? 1 : kv / width, tokens, width}, 0, std::pow(width, -0.5));
    if (L == 0) memory_v = init::normal({num_kv_heads, tokens, D}, 0, std::pow(tokens, -0.5));
  }
  if (form.differential) {
    for (Parameter* x : {&lambda_q1, &lambda_k1, &lambda_q2, &lambda_k2}) *x = init::normal({D / 2}, 0, 0.1);
    subln.emplace(Dims{D}, RMSNormOptions{.eps = 1e-5});
  }
  if (form.talking_heads)
    for (Parameter* x : {&mix_scores, &mix_weights}) *x = eye(num_heads);
}

void MultiheadAttention::visit(Visitor& v) {
  v("in_proj_weight", in_proj_weight, "q_proj_weight", q_proj_weight, "k_proj_weight", k_proj_weight,
    "v_proj_weight", v_proj_weight, "in_proj_bias", in_proj_bias, "out_proj", out_proj);
  v("kv_a_proj", kv_a_proj, "kv_b_proj", kv_b_proj, "gate_proj", gate_proj, "qk_scale", qk_scale, "sinks",
    sinks, "memory_k", memory_k, "memory_v", memory_v);
  v("lambda_q1", lambda_q1, "lambda_k1", lambda_k1, "lambda_q2", lambda_q2, "lambda_k2", lambda_k2, "subln",
    subln, "mix_scores", mix_scores, "mix_weights", mix_weights);
  v("", form.position_bias, "", form.relative_score, "core", form.core);
}

AttentionResult MultiheadAttention::forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                            const AttentionOptions& options, KeyValueCache* cache) const {
  check_inputs(*this, query, key, value, options, cache);
  const bool batched = query.dim() == 3;
  const auto batch = [&](const Tensor& x) { return batched || !x.defined() ? x : unsqueeze(x, 0); };
  const Tensor x = batch(query), keys = query.same_as(key) ? x : batch(key);

  AttentionOptions of_heads = options;
  of_heads.mask = detail::for_heads(options.mask);
  of_heads.bias = detail::for_heads(options.bias);
  if (cache && key.defined()) of_heads.past = cache->length();
  of_heads.dropout_p = training() ? form.dropout : 0;
  Projected all = project_all(*this, x, keys, batch(value), of_heads.past);
  KeyValueCache grown = cache ? *cache : KeyValueCache();
  AttentionResult result;
  if (form.core) {
    std::vector<Tensor> state = grown.state();
    result.output = (*form.core)({all.q, detail::repeat_heads(all.k, num_heads),
                                  detail::repeat_heads(all.v, num_heads), x, of_heads, state});
    check_in(kName, shape_of(result.output) == all.q.shape(), "the core returned ", shape_of(result.output),
             "; it must return [B, H, T, D], here ", all.q.shape());
    grown.advance(std::move(state), key.defined() ? all.k.size(2) : 0);
  } else {
    if (cache) {
      if (key.defined()) grown.append(all.k, all.v);
      all.k = grown.keys();
      all.v = grown.values();
    }
    result = attend_by_scores(*this, all, of_heads);
  }

  if (gate_proj) result.output = result.output * sigmoid(detail::as_heads((*gate_proj)(x), num_heads));
  const Tensor output = out_proj(flatten(transpose(result.output, 1, 2), 2));  // [B, H, Tq, D] -> [B, Tq, E]
  if (result.weights.defined() && options.average_attn_weights) result.weights = mean(result.weights, 1);
  if (cache) *cache = std::move(grown);  // last: an error leaves the cache unchanged
  const auto unbatched = [&](const Tensor& y) { return batched || !y.defined() ? y : squeeze(y, 0); };
  return {unbatched(output), unbatched(result.weights)};
}

}  // namespace heed
