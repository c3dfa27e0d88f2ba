#include "nn/attention/scaled_dot_product.h"

#include "autograd/ops/shape.h"

namespace heed {

// The dimension that is `from_end`-th from the end as two, [groups, size / groups], or as [1, 1] if its size
// is 1.
static Tensor split_heads(const Tensor& x, int64_t from_end, int64_t groups) {
  if (!x.defined() || x.dim() < from_end) return x;
  const int64_t dim = x.dim() - from_end, size = x.size(dim);
  return view(x, x.shape().with(dim, size == 1 ? 1 : size / groups).inserted(dim, size == 1 ? 1 : groups));
}

// Each head has its own keys, or one head has those for all.
static AttentionResult attend(Operand query, Operand key, Operand value, const AttentionOptions& options) {
  detail::check_fits_scores(options, detail::check_attention(query, key, value, options));
  const Mask mask(options.mask);
  key.assign(mask.zero_unattended(key));
  value.assign(mask.zero_unattended(value));
  if (detail::needs_weights(options) || (options.dropout_p > 0 && attention_captured())) {
    const Tensor weights = F::dropout(attention_weights(query, key, options), options.dropout_p);
    return {attention_pool(weights, value), options.need_weights ? weights : Tensor()};
  }
  if (attention_captured()) [[unlikely]] {
    const NoGrad guard;  // only the observer needs the weights; the output keeps its bits
    capture_attention(attention_weights(query, key, options));
  }
  return {blocked_attention(query, key, value, options), {}};
}

AttentionResult F::scaled_dot_product_attention(Operand query, Operand key, Operand value,
                                                const AttentionOptions& options) {
  const OpScope scope("scaled_dot_product_attention", query.line());
  if (!options.enable_gqa) return attend(query, key, value, options);
  check(query->dim() > 2 && key->dim() > 2 && value->dim() > 2 && key->size(-3) == value->size(-3),
        "query is ", query->shape(), ", key is ", key->shape(), ", value is ", value->shape(),
        "; with enable_gqa they must be [..., H, Tq, D], [..., Hkv, Tk, D], [..., Hkv, Tk, Dv]");
  const int64_t heads = query->size(-3), groups = key->size(-3);
  check(groups > 0 && heads % groups == 0, "query ", query->shape(), " has ", heads, " heads, and key ",
        key->shape(), " has ", groups, "; the second number must divide the first");
  // Weights are [..., H, Tq, Tk].
  if (heads == groups || detail::needs_weights(options) || attention_captured())
    return attend(query, detail::repeat_heads(key, heads), detail::repeat_heads(value, heads), options);

  const Shape scores =
      detail::check_attention(query, narrow(key, -3, 0, 1), narrow(value, -3, 0, 1), options);
  detail::check_fits_scores(options, scores);  // before their heads are split
  // [..., Hkv, H / Hkv, Tq, D], to which the keys broadcast as [..., Hkv, 1, Tk, D].
  AttentionOptions of_groups = options;
  of_groups.mask = split_heads(options.mask, 3, groups);
  of_groups.bias = split_heads(options.bias, 3, groups);
  of_groups.position_bias = split_heads(options.position_bias, 2, groups);
  of_groups.sink_logit = split_heads(options.sink_logit, 1, groups);
  const auto result =
      attend(split_heads(query, 3, groups), unsqueeze(key, -3), unsqueeze(value, -3), of_groups);
  return {flatten(result.output, -4, -3), {}};
}

}  // namespace heed
