#include "nn/transformer/transformer.h"

#include "autograd/ops.h"

namespace heed {
namespace {

// x plus what a part f of a layer makes of it, normed before f or behind the sum.
Tensor residual(const auto& layer, const LayerNorm& norm, const Tensor& x, const auto& f) {
  const TransformerOptions& options = layer.options;
  const double p = options.residual_dropout.value_or(options.dropout);
  if (options.norm_first) return x + F::dropout(f(norm(x)), p, layer.training());
  return norm(x + F::dropout(f(x), p, layer.training()));
}

// W_2 activation(W_1 x + b_1) + b_2, for each position by itself: [..., E] -> [..., E]
Tensor feed_forward(const auto& layer, const Tensor& x) {
  const TransformerOptions& options = layer.options;
  const Tensor h = layer.linear1(x), active = options.activation == Activation::relu ? relu(h) : gelu(h);
  const double p = options.feedforward_dropout.value_or(options.dropout);
  return layer.linear2(F::dropout(active, p, layer.training()));
}

MultiheadAttentionOptions attention_options(const TransformerOptions& options, bool rotary) {
  return {
      .bias = options.bias, .dropout = options.attention_dropout.value_or(options.dropout), .rotary = rotary};
}

TransformerOptions checked(const char* layer, const TransformerOptions& options) {
  F::check_dropout(layer, "dropout", options.dropout);
  F::check_dropout(layer, "feedforward_dropout", options.feedforward_dropout.value_or(0));
  F::check_dropout(layer, "residual_dropout", options.residual_dropout.value_or(0));
  return options;
}

// Layers have caches of their own and return no weights.
void check_attends(const char* layer, const AttendOptions& options) {
  check(!options.cache && !options.need_weights, layer,
        ": cache and need_weights are for one attention; here the cache is an argument of its own, and an "
        "AttentionScope sees the weights");
}

// Where a stack of layers stands, to go on from: empty for each at first, and so without a cache.
template <class LayerCache>
std::vector<LayerCache> grown_from(const char* stack, const std::vector<LayerCache>* held, size_t layers) {
  check(!held || held->empty() || held->size() == layers, stack, ": the cache is of ",
        held ? held->size() : 0, " layers, and there are ", layers);
  auto grown = held ? *held : std::vector<LayerCache>();
  grown.resize(layers);
  return grown;
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(int64_t d_model, int64_t nhead, TransformerOptions options)
    : options(checked("TransformerEncoderLayer", options)),
      self_attn(d_model, nhead, attention_options(options, options.rotary)),
      linear1(d_model, options.dim_feedforward, {.bias = options.bias}),
      linear2(options.dim_feedforward, d_model, {.bias = options.bias}),
      norm1(d_model, options.norm()),
      norm2(d_model, options.norm()) {}

Tensor TransformerEncoderLayer::forward(const Tensor& src, const AttendOptions& self,
                                        KeyValueCache* cache) const {
  check_attends("TransformerEncoderLayer", self);
  KeyValueCache grown = cache ? *cache : KeyValueCache();  // an error leaves the cache as it was
  AttendOptions to_self = self;
  to_self.cache = cache ? &grown : nullptr;
  Tensor x = residual(*this, norm1, src, [&](const Tensor& y) { return self_attn(y, to_self).output; });
  x = residual(*this, norm2, x, [&](const Tensor& y) { return feed_forward(*this, y); });
  if (cache) *cache = std::move(grown);
  return x;
}

Tensor TransformerEncoder::forward(const Tensor& src, const AttendOptions& self, EncoderCache* cache) const {
  auto grown = grown_from("TransformerEncoder", cache ? &cache->layers : nullptr, layers.size());
  const TransposedWeightCache::Use use(cache ? &cache->weights : nullptr);
  Tensor x = src;
  for (size_t i = 0; i < layers.size(); ++i) x = layers[i](x, self, cache ? &grown[i] : nullptr);
  if (norm) x = (*norm)(x);
  if (cache) cache->layers = std::move(grown);
  return x;
}

TransformerDecoderLayer::TransformerDecoderLayer(int64_t d_model, int64_t nhead, TransformerOptions options)
    : options(checked("TransformerDecoderLayer", options)),
      self_attn(d_model, nhead, attention_options(options, options.rotary)),
      multihead_attn(d_model, nhead, attention_options(options, false)),
      linear1(d_model, options.dim_feedforward, {.bias = options.bias}),
      linear2(options.dim_feedforward, d_model, {.bias = options.bias}),
      norm1(d_model, options.norm()),
      norm2(d_model, options.norm()),
      norm3(d_model, options.norm()) {}

Tensor TransformerDecoderLayer::forward(const Tensor& tgt, const Tensor& memory, const AttendOptions& self,
                                        const AttendOptions& cross, DecoderLayerCache* cache) const {
  check_attends("TransformerDecoderLayer", self);
  check_attends("TransformerDecoderLayer", cross);
  DecoderLayerCache grown = cache ? *cache : DecoderLayerCache();  // an error leaves the cache as it was
  AttendOptions to_self = self, to_memory = cross;
  to_self.cache = cache ? &grown.self : nullptr;
  to_memory.cache = cache ? &grown.memory : nullptr;
  const Tensor source = grown.memory.length() > 0 ? Tensor() : memory;

  Tensor x = residual(*this, norm1, tgt, [&](const Tensor& y) { return self_attn(y, to_self).output; });
  x = residual(*this, norm2, x,
               [&](const Tensor& y) { return multihead_attn(y, source, source, to_memory).output; });
  x = residual(*this, norm3, x, [&](const Tensor& y) { return feed_forward(*this, y); });
  if (cache) *cache = std::move(grown);
  return x;
}

Tensor TransformerDecoder::forward(const Tensor& tgt, const Tensor& memory, const AttendOptions& self,
                                   const AttendOptions& cross, DecoderCache* cache) const {
  auto grown = grown_from("TransformerDecoder", cache ? &cache->layers : nullptr, layers.size());
  const TransposedWeightCache::Use use(cache ? &cache->weights : nullptr);
  Tensor x = tgt;
  for (size_t i = 0; i < layers.size(); ++i)
    x = layers[i](x, memory, self, cross, cache ? &grown[i] : nullptr);
  if (norm) x = (*norm)(x);
  if (cache) cache->layers = std::move(grown);
  return x;
}

Transformer::Transformer(int64_t d_model, int64_t nhead, int64_t num_encoder_layers,
                         int64_t num_decoder_layers, TransformerOptions options)
    : encoder(d_model, nhead, num_encoder_layers, options),
      decoder(d_model, nhead, num_decoder_layers, options) {
  for (auto* norm : {&encoder.norm, &decoder.norm}) norm->emplace(d_model, options.norm());
  const NoGrad no_history;
  for (const Tensor& parameter : parameters())
    if (parameter.dim() > 1) copy_(parameter, init::xavier_uniform(parameter.shape()));
}

}  // namespace heed
