#pragma once

#include <optional>
#include <vector>

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

/// Fills a stack: its layers, each with start values of its own, and with final_norm the norm behind them.
template <class Layer>
void build_stack(const char* name, std::vector<Layer>& layers, std::optional<LayerNorm>& norm,
                 int64_t d_model, int64_t nhead, int64_t num_layers, const TransformerOptions& options) {
  check(num_layers >= 0, name, ": num_layers is ", num_layers, "; it must not be negative");
  for (int64_t i = 0; i < num_layers; ++i) layers.emplace_back(d_model, nhead, options);
  if (options.final_norm)
    norm.emplace(d_model, LayerNormOptions{.eps = options.layer_norm_eps, .bias = options.bias});
}

}  // namespace detail
}  // namespace heed
