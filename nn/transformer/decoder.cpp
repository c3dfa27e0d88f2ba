#include "nn/transformer/decoder.h"

namespace heed {

void DecoderCache::roll_back(int64_t length) {
  for (DecoderLayerCache& layer : layers) layer.self.roll_back(length);
}

void DecoderCache::select(const Tensor& rows) {
  for (DecoderLayerCache& layer : layers) {
    layer.self.select(rows);
    layer.memory.select(rows);
  }
}

TransformerDecoderLayer::TransformerDecoderLayer(int64_t d_model, int64_t nhead, TransformerOptions options)
    : options(options),
      self_attn(d_model, nhead, {.bias = options.bias, .dropout = options.dropout, .rotary = options.rotary}),
      multihead_attn(d_model, nhead, {.bias = options.bias, .dropout = options.dropout}),
      linear1(d_model, options.dim_feedforward, {.bias = options.bias}),
      linear2(options.dim_feedforward, d_model, {.bias = options.bias}),
      norm1(d_model, {.eps = options.layer_norm_eps, .bias = options.bias}),
      norm2(d_model, {.eps = options.layer_norm_eps, .bias = options.bias}),
      norm3(d_model, {.eps = options.layer_norm_eps, .bias = options.bias}) {}

Tensor TransformerDecoderLayer::forward(const Tensor& tgt, const Tensor& memory, const Mask& tgt_mask,
                                        const Mask& memory_mask, DecoderLayerCache* cache) const {
  DecoderLayerCache grown = cache ? *cache : DecoderLayerCache();  // an error leaves the cache as it was
  const AttendOptions own = {.mask = tgt_mask, .cache = cache ? &grown.self : nullptr};
  const AttendOptions other = {.mask = memory_mask, .cache = cache ? &grown.memory : nullptr};
  const Tensor source = grown.memory.length() > 0 ? Tensor() : memory;

  const auto attend = [&](const Tensor& x) { return self_attn(x, own).output; };
  const auto look = [&](const Tensor& x) { return multihead_attn(x, source, source, other).output; };
  const auto think = [&](const Tensor& x) {
    return detail::feed_forward(x, linear1, linear2, options, training());
  };
  Tensor x = detail::residual(tgt, norm1, options, training(), attend);
  x = detail::residual(x, norm2, options, training(), look);
  x = detail::residual(x, norm3, options, training(), think);
  if (cache) *cache = std::move(grown);
  return x;
}

void TransformerDecoderLayer::visit(Visitor& v) {
  v("self_attn", self_attn);
  v("multihead_attn", multihead_attn);
  v("linear1", linear1);
  v("linear2", linear2);
  v("norm1", norm1);
  v("norm2", norm2);
  v("norm3", norm3);
}

TransformerDecoder::TransformerDecoder(int64_t d_model, int64_t nhead, int64_t num_layers,
                                       TransformerOptions options) {
  detail::build_stack("TransformerDecoder", layers, norm, d_model, nhead, num_layers, options);
}

Tensor TransformerDecoder::forward(const Tensor& tgt, const Tensor& memory, const Mask& tgt_mask,
                                   const Mask& memory_mask, DecoderCache* cache) const {
  check(!cache || cache->layers.empty() || cache->layers.size() == layers.size(),
        "TransformerDecoder: the cache is of ", cache ? cache->layers.size() : 0, " layers, and there are ",
        layers.size());
  DecoderCache grown = cache ? *cache : DecoderCache();
  grown.layers.resize(layers.size());
  Tensor x = tgt;
  for (size_t i = 0; i < layers.size(); ++i)
    x = layers[i](x, memory, tgt_mask, memory_mask, cache ? &grown.layers[i] : nullptr);
  if (norm) x = (*norm)(x);
  if (cache) *cache = std::move(grown);
  return x;
}

void TransformerDecoder::visit(Visitor& v) {
  v("layers", layers);
  v("norm", norm);
}

}  // namespace heed
