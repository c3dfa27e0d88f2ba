#include "nn/attention/state_core.h"

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

Tensor attend_with_state(const CoreInputs& in, const Tensor& query, const Tensor& key, const Tensor& value,
                         LinearAttentionOptions options) {
  options.mask = mask_of_keys(in);
  if (!in.state.empty()) options.state = in.state[0];
  LinearAttentionResult y = F::linear_attention(query, key, value, options);
  in.state = {y.state};
  return y.output;
}

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
