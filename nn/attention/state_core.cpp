#include "nn/attention/state_core.h"

#include "autograd/ops/activation.h"
#include "autograd/ops/basic.h"

namespace heed {

// The mask of the new keys, [..., 1, T], undefined if all are seen. Throws for what a state cannot do.
static Tensor mask_of_keys(const CoreInputs& in) {
  const AttentionOptions& o = in.options;
  const Tensor& mask = o.mask;
  const bool of_scores = o.bias.defined() || o.position_bias.defined() || o.sink_logit.defined() ||
                         o.score_map || o.weight_map || o.window || o.scale || o.soft_cap > 0;
  check_in("MultiheadAttention", !of_scores,
           "a core with a state has no scores: the call must be without bias, position_bias, sink_logit, "
           "maps, window, scale and soft_cap");
  if (!mask.defined() || !in.k.defined()) return {};
  check_in("MultiheadAttention", mask.dim() < 2 || mask.size(-2) == 1, "the mask is ", mask.shape(),
           "; all queries read one state, so a mask can only hide keys, [..., 1, Tk]; write is_causal for "
           "order");
  const int64_t earlier = mask.size(-1) - in.k.size(2);  // keys that are in the state already
  return earlier > 0 ? narrow(mask, -1, earlier, in.k.size(2)) : mask;
}

// x / |x| along the last dimension.
static Tensor unit_length(const Tensor& x) { return x * rsqrt(sum(square(x), -1, true) + 1e-6); }

Tensor attend_with_state(const CoreInputs& in, const Tensor& query, const Tensor& key, const Tensor& value,
                         LinearAttentionOptions options) {
  options.mask = mask_of_keys(in);
  if (!in.state.empty()) options.state = in.state[0];
  LinearAttentionResult y = F::linear_attention(query, key, value, options);
  in.state = {y.state};
  return y.output;
}

Tensor LinearCore::operator()(const CoreInputs& in) const {
  const Tensor key = in.k.defined() ? features(in.k) : in.k;
  return attend_with_state(in, features(in.q), key, in.v,
                           {.scale = 1, .is_causal = in.options.is_causal, .normalize = true});
}

Tensor GatedNorm::gated(const Tensor& heads, const CoreInputs& in) const {
  return g_norm(heads) * silu(detail::as_heads(g_proj(in.x), in.q.size(1)));
}

Tensor retention_decay(int64_t num_heads, DType dtype) {
  const Tensor g = log1p(-exp((arange(num_heads, float64) + 5) * -std::log(2.0)));
  return to(reshape(g, {num_heads, 1, 1}), dtype);
}

Tensor Retention::operator()(const CoreInputs& in) const {
  const Tensor decay = retention_decay(in.q.size(1), in.q.dtype());
  return gated(attend_with_state(in, in.q, in.k, in.v, {.rule = LinearRule::gated, .decay = decay}), in);
}

Tensor GatedLinearAttention::operator()(const CoreInputs& in) const {
  const Tensor decay = softplus(-detail::as_heads(gk_proj[1](gk_proj[0](in.x)), in.q.size(1))) * (-1.0 / 16);
  return gated(attend_with_state(in, in.q, in.k, in.v, {.rule = LinearRule::gated, .decay = decay}), in);
}

Tensor DeltaNet::attend(const CoreInputs& in, const Tensor& decay) const {
  const LinearRule rule = decay.defined() ? LinearRule::gated_delta : LinearRule::delta;
  const Tensor beta = sigmoid(detail::as_heads(b_proj(in.x), in.q.size(1)));
  return gated(attend_with_state(in, unit_length(silu(in.q)), unit_length(silu(in.k)), in.v,
                                 {.rule = rule, .decay = decay, .beta = beta}),
               in);
}

InputDecay::InputDecay(int64_t embed_dim, int64_t num_heads)
    : dt_proj(embed_dim, num_heads, {.bias = false}),
      dt_bias(log(expm1(exp(init::uniform({num_heads}, std::log(0.001), std::log(0.1)))))),
      A_log(log(init::uniform({num_heads}, 1, 16))) {}

Tensor InputDecay::time_steps(const Tensor& x) const {
  return unsqueeze(transpose(softplus(dt_proj(x) + dt_bias), 1, 2), -1);
}
Tensor InputDecay::operator()(const Tensor& dt) const { return -reshape(exp(A_log), {-1, 1, 1}) * dt; }

Tensor StateSpace::operator()(const CoreInputs& in) const {
  const Tensor dt = decay.time_steps(in.x);
  const Tensor read = attend_with_state(in, in.q, in.k, in.v * dt,
                                        {.rule = LinearRule::gated, .decay = decay(dt), .scale = 1});
  return gated(read + reshape(D, {-1, 1, 1}) * in.v, in);
}

Rwkv::Rwkv(int64_t embed_dim, int64_t num_heads)
    : time_decay(reshape(linspace(-5, 3, embed_dim), {num_heads, -1})),
      time_first(init::constant({num_heads, embed_dim / num_heads}, std::log(0.3))) {}

Tensor Rwkv::operator()(const CoreInputs& in) const {
  Tensor key = in.k, value = in.v;
  if (const Tensor mask = mask_of_keys(in); mask.defined()) {
    const Tensor keep = transpose(mask.dim() == 1 ? unsqueeze(mask, 0) : mask);
    key = where(keep, key, -1e30);
    value = where(keep, value, 0);
  }
  const Tensor state = in.state.empty() ? Tensor() : in.state[0];
  LinearAttentionResult y = F::wkv(key, value, exp(time_decay), time_first, state);
  in.state = {y.state};
  return sigmoid(in.q) * y.output;
}

}  // namespace heed
