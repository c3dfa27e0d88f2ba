#pragma once

#include "nn/functional.h"
#include "nn/layers/linear.h"
#include "nn/layers/norm.h"

namespace heed {

enum class Activation { relu, gelu };

/// Choices for the layers of a transformer and for stacks of them.
struct TransformerOptions {
  int64_t dim_feedforward = 2048;
  double dropout = 0.1;  // of attention weights, inside the feed-forward part, and of what each part adds
  Activation activation = Activation::relu;
  double layer_norm_eps = 1e-5;
  bool norm_first = false;  // x + f(norm(x)) instead of norm(x + f(x)): deep stacks train without warm-up
  bool bias = true;
  bool rotary = false;      // turn queries and keys of self-attention by their positions
  bool final_norm = false;  // of a stack: a LayerNorm behind the last layer, as norm_first wants it
};

namespace detail {

/// x plus what a part f of a layer makes of it, normed before f or behind the sum.
template <class Part>
Tensor residual(const Tensor& x, const LayerNorm& norm, const TransformerOptions& options, bool training,
                const Part& f) {
  if (options.norm_first) return x + F::dropout(f(norm(x)), options.dropout, training);
  return norm(x + F::dropout(f(x), options.dropout, training));
}

/// W_2 activation(W_1 x + b_1) + b_2, for each position by itself: [..., E] -> [..., E]
Tensor feed_forward(const Tensor& x, const Linear& linear1, const Linear& linear2,
                    const TransformerOptions& options, bool training);

}  // namespace detail
}  // namespace heed
