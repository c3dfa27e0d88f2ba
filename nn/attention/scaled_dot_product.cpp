#include "nn/attention/scaled_dot_product.h"

namespace heed::F {

AttentionResult scaled_dot_product_attention(Operand query, Operand key, Operand value,
                                             const AttentionOptions& options) {
  const OpScope scope("scaled_dot_product_attention", query.line());
  const Shape scores = detail::check_attention(query, key, value, options);
  detail::check_fits_scores("mask", options.mask, scores);
  detail::check_fits_scores("bias", options.bias, scores);

  const Mask mask(options.mask);
  key.assign(mask.zero_unattended(key));
  value.assign(mask.zero_unattended(value));
  if (detail::needs_weights(options) || (options.dropout_p > 0 && attention_captured())) {
    const Tensor weights = dropout(attention_weights(query, key, options), options.dropout_p);
    return {attention_pool(weights, value), options.need_weights ? weights : Tensor()};
  }
  if (attention_captured()) [[unlikely]] {
    const NoGrad guard;  // only the observer needs the weights; the output keeps its bits
    capture_attention(attention_weights(query, key, options));
  }
  return {blocked_attention(query, key, value, options), {}};
}

}  // namespace heed::F
