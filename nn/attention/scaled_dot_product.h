#pragma once

#include "autograd/ops/index.h"
#include "nn/attention/pooling.h"

/// Scaled dot-product attention, the function inside MultiheadAttention.
namespace heed {
namespace F {

using heed::AttentionOptions;

/// softmax(query key^T / sqrt(D)) value: score, normalize, weighted sum (Vaswani et al., 2017).
///
///   query      [..., Tq, D]
///   key        [..., Tk, D]
///   value      [..., Tk, Dv]
///   options    a Mask or AttentionOptions; average_attn_weights is ignored
///   returns    output [..., Tq, Dv], and weights [..., Tq, Tk] if the options need them
///
/// A query that may attend to nothing gives 0. A key that no query may attend to has no influence, even if it
/// or its value is NaN or infinite. If some query may attend to it, NaN reaches the others, as in PyTorch.
///
/// With enable_gqa, query is [..., H, Tq, D], and key and value have a number of heads that divides H: each
/// serves H / Hkv heads of queries in a row (Ainslie et al., 2023), without a copy of the keys.
///
/// Errors: sizes or dtypes that differ; a mask or bias that does not broadcast to the scores.
AttentionResult scaled_dot_product_attention(Operand query, Operand key, Operand value,
                                             const AttentionOptions& options = {});

}  // namespace F

namespace detail {
/// Keys or values [..., Hkv, Tk, D] for `heads` heads of queries, each repeated: [..., heads, Tk, D]. Hkv
/// must divide `heads`.
inline Tensor repeat_heads(const Tensor& x, int64_t heads) {
  return !x.defined() || x.size(-3) == heads ? x : repeat_interleave(x, heads / x.size(-3), -3);
}
}  // namespace detail

}  // namespace heed
