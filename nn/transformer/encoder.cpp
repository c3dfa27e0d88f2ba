#include "nn/transformer/encoder.h"

namespace heed {

TransformerEncoderLayer::TransformerEncoderLayer(int64_t d_model, int64_t nhead, TransformerOptions options)
    : options(options),
      self_attn(d_model, nhead, {.bias = options.bias, .dropout = options.dropout, .rotary = options.rotary}),
      linear1(d_model, options.dim_feedforward, {.bias = options.bias}),
      linear2(options.dim_feedforward, d_model, {.bias = options.bias}),
      norm1(d_model, {.eps = options.layer_norm_eps, .bias = options.bias}),
      norm2(d_model, {.eps = options.layer_norm_eps, .bias = options.bias}) {}

Tensor TransformerEncoderLayer::forward(const Tensor& src, const Mask& mask) const {
  const auto attend = [&](const Tensor& x) { return self_attn(x, mask).output; };
  const auto think = [&](const Tensor& x) {
    return detail::feed_forward(x, linear1, linear2, options, training());
  };
  const Tensor x = detail::residual(src, norm1, options, training(), attend);
  return detail::residual(x, norm2, options, training(), think);
}

void TransformerEncoderLayer::visit(Visitor& v) {
  v("self_attn", self_attn);
  v("linear1", linear1);
  v("linear2", linear2);
  v("norm1", norm1);
  v("norm2", norm2);
}

TransformerEncoder::TransformerEncoder(int64_t d_model, int64_t nhead, int64_t num_layers,
                                       TransformerOptions options) {
  detail::build_stack("TransformerEncoder", layers, norm, d_model, nhead, num_layers, options);
}

Tensor TransformerEncoder::forward(const Tensor& src, const Mask& mask) const {
  Tensor x = src;
  for (const TransformerEncoderLayer& layer : layers) x = layer(x, mask);
  return norm ? (*norm)(x) : x;
}

void TransformerEncoder::visit(Visitor& v) {
  v("layers", layers);
  v("norm", norm);
}

}  // namespace heed
