#include "nn/transformer/transformer.h"

namespace heed {
namespace {

// x plus what a part f of a layer makes of it, normed before f or behind the sum.
template <class Part>
Tensor residual(const Tensor& x, const LayerNorm& norm, const TransformerOptions& options, bool training,
                const Part& f) {
  if (options.norm_first) return x + F::dropout(f(norm(x)), options.dropout, training);
  return norm(x + F::dropout(f(x), options.dropout, training));
}

// W_2 activation(W_1 x + b_1) + b_2, for each position by itself: [..., E] -> [..., E]
Tensor feed_forward(const Tensor& x, const Linear& linear1, const Linear& linear2,
                    const TransformerOptions& options, bool training) {
  const Tensor h = linear1(x);
  const Tensor active = options.activation == Activation::relu ? relu(h) : gelu(h);
  return linear2(F::dropout(active, options.dropout, training));
}

// Fills a stack: its layers, each with start values of its own, and with final_norm the norm behind them.
template <class Layer>
void build_stack(const char* name, std::vector<Layer>& layers, std::optional<LayerNorm>& norm,
                 int64_t d_model, int64_t nhead, int64_t num_layers, const TransformerOptions& options) {
  check(num_layers >= 0, name, ": num_layers is ", num_layers, "; it must not be negative");
  for (int64_t i = 0; i < num_layers; ++i) layers.emplace_back(d_model, nhead, options);
  if (options.final_norm)
    norm.emplace(d_model, LayerNormOptions{.eps = options.layer_norm_eps, .bias = options.bias});
}

TransformerOptions with_final_norm(TransformerOptions options) {
  options.final_norm = true;
  return options;
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(int64_t d_model, int64_t nhead, TransformerOptions options)
    : options(options),
      self_attn(d_model, nhead, {.bias = options.bias, .dropout = options.dropout, .rotary = options.rotary}),
      linear1(d_model, options.dim_feedforward, {.bias = options.bias}),
      linear2(options.dim_feedforward, d_model, {.bias = options.bias}),
      norm1(d_model, {.eps = options.layer_norm_eps, .bias = options.bias}),
      norm2(d_model, {.eps = options.layer_norm_eps, .bias = options.bias}) {}

Tensor TransformerEncoderLayer::forward(const Tensor& src, const Mask& mask) const {
  const auto attend = [&](const Tensor& x) { return self_attn(x, mask).output; };
  const auto think = [&](const Tensor& x) { return feed_forward(x, linear1, linear2, options, training()); };
  const Tensor x = residual(src, norm1, options, training(), attend);
  return residual(x, norm2, options, training(), think);
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
  build_stack("TransformerEncoder", layers, norm, d_model, nhead, num_layers, options);
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

int64_t DecoderCache::length() const { return layers.empty() ? 0 : layers.front().self.length(); }

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
  const auto think = [&](const Tensor& x) { return feed_forward(x, linear1, linear2, options, training()); };
  Tensor x = residual(tgt, norm1, options, training(), attend);
  x = residual(x, norm2, options, training(), look);
  x = residual(x, norm3, options, training(), think);
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
  build_stack("TransformerDecoder", layers, norm, d_model, nhead, num_layers, options);
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

Transformer::Transformer(int64_t d_model, int64_t nhead, int64_t num_encoder_layers,
                         int64_t num_decoder_layers, TransformerOptions options)
    : encoder(d_model, nhead, num_encoder_layers, with_final_norm(options)),
      decoder(d_model, nhead, num_decoder_layers, with_final_norm(options)) {
  const NoGrad no_history;
  for (const Tensor& parameter : parameters())
    if (parameter.dim() > 1) copy_(parameter, init::xavier_uniform(parameter.shape()));
}

Tensor Transformer::forward(const Tensor& src, const Tensor& tgt, const Mask& src_mask, const Mask& tgt_mask,
                            const Mask& memory_mask) const {
  return decoder(tgt, encoder(src, src_mask), tgt_mask, memory_mask);
}

void Transformer::visit(Visitor& v) {
  v("encoder", encoder);
  v("decoder", decoder);
}

}  // namespace heed
