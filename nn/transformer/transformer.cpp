#include "nn/transformer/transformer.h"

#include "autograd/ops.h"

namespace heed {
namespace {

// x + f(norm(x)) or norm(x + f(x)), with dropout on the result of f.
Tensor residual(const auto& layer, const LayerNorm& norm, const Tensor& x, const auto& f) {
  const TransformerOptions& options = layer.options;
  const double p = options.residual_dropout.value_or(options.dropout);
  if (options.norm_first) return x + F::dropout(f(norm(x)), p, layer.training());
  return norm(x + F::dropout(f(x), p, layer.training()));
}

// W_2 activation(W_1 x + b_1) + b_2 at each position: [..., E] -> [..., E]
Tensor feed_forward(const auto& layer, const Tensor& x) {
  const TransformerOptions& options = layer.options;
  const Tensor h = layer.linear1(x), active = options.activation == Activation::relu ? relu(h) : gelu(h);
  const double p = options.feedforward_dropout.value_or(options.dropout);
  return layer.linear2(F::dropout(active, p, layer.training()));
}

MultiheadAttentionOptions attention_options(const TransformerOptions& options, bool to_itself) {
  MultiheadAttentionOptions form = to_itself ? options.self_attention : options.cross_attention;
  form.bias = options.bias;
  form.dropout = options.attention_dropout.value_or(options.dropout);
  form.rotary = to_itself && (options.rotary || form.rotary);
  return form;
}

TransformerOptions checked(const char* layer, const TransformerOptions& options) {
  F::check_dropout(layer, "dropout", options.dropout);
  F::check_dropout(layer, "feedforward_dropout", options.feedforward_dropout.value_or(0));
  F::check_dropout(layer, "residual_dropout", options.residual_dropout.value_or(0));
  return options;
}

void check_returns_no_weights(const char* layer, const AttentionOptions& options) {
  check_in(layer, !options.need_weights,
           "need_weights is for MultiheadAttention; here an AttentionScope sees the weights");
}

// x = layer(x, inputs..., the layer's cache) for all layers, then the norm. An error leaves the cache
// unchanged.
template <class LayerCache>
Tensor run(const auto& stack, Tensor x, StackCache<LayerCache>* cache, const auto&... inputs) {
  auto grown = cache ? cache->layers : std::vector<LayerCache>();
  check_in(stack.kName, grown.empty() || grown.size() == stack.layers.size(), "the cache is of ",
           grown.size(), " layers, and there are ", stack.layers.size());
  grown.resize(stack.layers.size());
  for (size_t i = 0; i < grown.size(); ++i) x = stack.layers[i](x, inputs..., cache ? &grown[i] : nullptr);
  if (stack.norm) x = (*stack.norm)(x);
  if (cache) cache->layers = std::move(grown);
  return x;
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(int64_t d_model, int64_t nhead, TransformerOptions options)
    : options(checked("TransformerEncoderLayer", options)),
      self_attn(d_model, nhead, attention_options(options, true)),
      linear1(d_model, options.dim_feedforward, {.bias = options.bias}),
      linear2(options.dim_feedforward, d_model, {.bias = options.bias}),
      norm1(d_model, options.norm()),
      norm2(d_model, options.norm()) {}

Tensor TransformerEncoderLayer::forward(const Tensor& src, const AttentionOptions& self,
                                        KeyValueCache* cache) const {
  check_returns_no_weights("TransformerEncoderLayer", self);
  KeyValueCache grown = cache ? *cache : KeyValueCache();  // an error leaves the cache unchanged
  Tensor x = residual(*this, norm1, src,
                      [&](const Tensor& y) { return self_attn(y, self, cache ? &grown : nullptr).output; });
  x = residual(*this, norm2, x, [&](const Tensor& y) { return feed_forward(*this, y); });
  if (cache) *cache = std::move(grown);
  return x;
}

TransformerDecoderLayer::TransformerDecoderLayer(int64_t d_model, int64_t nhead, TransformerOptions options)
    : options(checked("TransformerDecoderLayer", options)),
      self_attn(d_model, nhead, attention_options(options, true)),
      multihead_attn(d_model, nhead, attention_options(options, false)),
      linear1(d_model, options.dim_feedforward, {.bias = options.bias}),
      linear2(options.dim_feedforward, d_model, {.bias = options.bias}),
      norm1(d_model, options.norm()),
      norm2(d_model, options.norm()),
      norm3(d_model, options.norm()) {}

Tensor TransformerDecoderLayer::forward(const Tensor& tgt, const Tensor& memory, const AttentionOptions& self,
                                        const AttentionOptions& cross, DecoderLayerCache* cache) const {
  check_returns_no_weights("TransformerDecoderLayer", self);
  check_returns_no_weights("TransformerDecoderLayer", cross);
  DecoderLayerCache grown = cache ? *cache : DecoderLayerCache();       // an error leaves the cache unchanged
  const Tensor source = grown.memory.length() > 0 ? Tensor() : memory;  // undefined: read from the cache
  AttentionOptions to_memory = cross;
  if (!source.defined()) to_memory.past = grown.self.length();
  Tensor x = residual(*this, norm1, tgt, [&](const Tensor& y) {
    return self_attn(y, self, cache ? &grown.self : nullptr).output;
  });
  x = residual(*this, norm2, x, [&](const Tensor& y) {
    return multihead_attn(y, source, source, to_memory, cache ? &grown.memory : nullptr).output;
  });
  x = residual(*this, norm3, x, [&](const Tensor& y) { return feed_forward(*this, y); });
  if (cache) *cache = std::move(grown);
  return x;
}

Tensor TransformerEncoder::forward(const Tensor& src, const AttentionOptions& self,
                                   EncoderCache* cache) const {
  return run(*this, src, cache, self);
}

Tensor TransformerDecoder::forward(const Tensor& tgt, const Tensor& memory, const AttentionOptions& self,
                                   const AttentionOptions& cross, DecoderCache* cache) const {
  return run(*this, tgt, cache, memory, self, cross);
}

Transformer::Transformer(int64_t d_model, int64_t nhead, int64_t num_encoder_layers,
                         int64_t num_decoder_layers, TransformerOptions options)
    : encoder(d_model, nhead, num_encoder_layers, options),
      decoder(d_model, nhead, num_decoder_layers, options) {
  for (auto* norm : {&encoder.norm, &decoder.norm}) norm->emplace(d_model, options.norm());
  const NoGrad guard;
  for (const auto& [name, parameter] : named_parameters())
    if (parameter.dim() > 1 && name.ends_with("weight") && !name.ends_with("bias.weight"))
      copy_(parameter, init::xavier_uniform(parameter.shape()));
}

}  // namespace heed
