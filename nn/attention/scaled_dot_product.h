#pragma once

#include "nn/attention/pooling.h"

/// Scaled dot-product attention, the function inside MultiheadAttention.
namespace heed::F {

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
/// Errors: sizes or dtypes that differ; a mask or bias that does not broadcast to the scores.
AttentionResult scaled_dot_product_attention(Operand query, Operand key, Operand value,
                                             const AttentionOptions& options = {});

}  // namespace heed::F
