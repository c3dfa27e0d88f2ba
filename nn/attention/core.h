#pragma once

#include "autograd/ops/attention.h"
#include "autograd/ops/shape.h"
#include "nn/any_callable.h"

/// The core of MultiheadAttention: what makes outputs of queries, keys and values in each head. By default it
/// is scaled_dot_product_attention. Another core needs no scores, and keeps a state where that has a cache.
namespace heed {

/// What a core gets. Every position comes after those that the state has seen.
struct CoreInputs {
  const Tensor& q;  ///< [B, H, T, D], normalized and rotated if the layer does so
  const Tensor& k;  ///< [B, H, T, D], repeated for groups of heads; undefined without new keys
  const Tensor& v;  ///< [B, H, T, D], as k
  const Tensor& x;  ///< [B, T, E], the input of the layer: gates and decays may depend on it
  const AttentionOptions& options;  ///< of the call; `past` is the number of earlier positions
  /// Tensors [B, ...]: empty at the beginning, then those that the last call left here.
  std::vector<Tensor>& state;
};

/// A core: CoreInputs -> [B, H, T, D]. Your own is any function, or a type with such an operator() and, if it
/// has parameters, `visit`. Decoding step by step must equal one call:
///
///   struct MeanOfValues {  // of all positions so far
///     Tensor operator()(const CoreInputs& in) const {
///       Tensor sums = cumsum(in.v, 2);
///       if (!in.state.empty()) sums = sums + in.state[0];
///       in.state = {narrow(sums, 2, sums.size(2) - 1, 1)};
///       const Tensor count = arange(1, sums.size(2) + 1, 1, sums.dtype()) + in.options.past;
///       return sums / unsqueeze(count, 1);
///     }
///   };
///   MultiheadAttention attention(64, 8, {.core = MeanOfValues()});
using AnyCore = AnyCallable<const CoreInputs&>;

namespace detail {
/// [B, T, heads width] -> [B, heads, T, width]
inline Tensor as_heads(const Tensor& x, int64_t heads) {
  return transpose(view(x, {x.size(0), x.size(1), heads, x.size(2) / heads}), 1, 2);
}
}  // namespace detail

}  // namespace heed
