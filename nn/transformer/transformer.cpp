#include "nn/transformer/transformer.h"

namespace heed {
namespace {

// x plus what a part f of a layer makes of it, normed before f or behind the sum.
template <class Part>
Tensor residual(const Tensor& x, const LayerNorm& norm, const TransformerOptions& options, bool training,
                const Part& f) {
  const double p = options.residual_dropout.value_or(options.dropout);
  if (options.norm_first) return x + F::dropout(f(norm(x)), p, training);
  return norm(x + F::dropout(f(x), p, training));
}

// W_2 activation(W_1 x + b_1) + b_2, for each position by itself: [..., E] -> [..., E]
Tensor feed_forward(const Tensor& x, const Linear& linear1, const Linear& linear2,
                    const TransformerOptions& options, bool training) {
  const Tensor h = linear1(x);
  const Tensor active = options.activation == Activation::relu ? relu(h) : gelu(h);
  return linear2(F::dropout(active, options.feedforward_dropout.value_or(options.dropout), training));
}

MultiheadAttentionOptions attention_options(const TransformerOptions& options, bool rotary) {
  return {
      .bias = options.bias, .dropout = options.attention_dropout.value_or(options.dropout), .rotary = rotary};
}

LayerNormOptions norm_options(const TransformerOptions& options) {
  return {.eps = options.layer_norm_eps, .bias = options.bias};
}

TransformerOptions checked(const char* layer, const TransformerOptions& options) {
  F::check_dropout(layer, "dropout", options.dropout);
  F::check_dropout(layer, "feedforward_dropout", options.feedforward_dropout.value_or(0));
  F::check_dropout(layer, "residual_dropout", options.residual_dropout.value_or(0));
  return options;
}

// Layers have caches of their own and return no weights.
void check_attends(const char* layer, const AttendOptions& options) {
  check(
      !options.cache && !options.need_weights, layer,
      ": cache and need_weights are for one attention; here a DecoderCache is an argument of its own, and an "
      "AttentionScope sees the weights");
}

// Fills a stack: its layers, each with start values of its own, and with final_norm the norm behind them.
template <class Layer>
void build_stack(const char* name, std::vector<Layer>& layers, std::optional<LayerNorm>& norm,
                 int64_t d_model, int64_t nhead, int64_t num_layers, const TransformerOptions& options) {
  check(num_layers >= 0, name, ": num_layers is ", num_layers, "; it must not be negative");
  for (int64_t i = 0; i < num_layers; ++i) layers.emplace_back(d_model, nhead, options);
  if (options.final_norm) norm.emplace(d_model, norm_options(options));
}

TransformerOptions with_final_norm(TransformerOptions options) {
  options.final_norm = true;
  return options;
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(int64_t d_model, int64_t nhead, TransformerOptions options)
    : options(checked("TransformerEncoderLayer", options)),
      self_attn(d_model, nhead, attention_options(options, options.rotary)),
      linear1(d_model, options.dim_feedforward, {.bias = options.bias}),
      linear2(options.dim_feedforward, d_model, {.bias = options.bias}),
      norm1(d_model, norm_options(options)),
      norm2(d_model, norm_options(options)) {}

Tensor TransformerEncoderLayer::forward(const Tensor& src, const AttendOptions& self) const {
  check_attends("TransformerEncoderLayer", self);
  const auto attention = [&](const Tensor& x) { return self_attn(x, self).output; };
  const auto feed = [&](const Tensor& x) { return feed_forward(x, linear1, linear2, options, training()); };
  const Tensor x = residual(src, norm1, options, training(), attention);
  return residual(x, norm2, options, training(), feed);
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

Tensor TransformerEncoder::forward(const Tensor& src, const AttendOptions& self) const {
  Tensor x = src;
  for (const TransformerEncoderLayer& layer : layers) x = layer(x, self);
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
    : options(checked("TransformerDecoderLayer", options)),
      self_attn(d_model, nhead, attention_options(options, options.rotary)),
      multihead_attn(d_model, nhead, attention_options(options, false)),
      linear1(d_model, options.dim_feedforward, {.bias = options.bias}),
      linear2(options.dim_feedforward, d_model, {.bias = options.bias}),
      norm1(d_model, norm_options(options)),
      norm2(d_model, norm_options(options)),
      norm3(d_model, norm_options(options)) {}

Tensor TransformerDecoderLayer::forward(const Tensor& tgt, const Tensor& memory, const AttendOptions& self,
                                        const AttendOptions& cross, DecoderLayerCache* cache) const {
  check_attends("TransformerDecoderLayer", self);
  check_attends("TransformerDecoderLayer", cross);
  DecoderLayerCache grown = cache ? *cache : DecoderLayerCache();  // an error leaves the cache as it was
  AttendOptions to_self = self, to_memory = cross;
  if (cache) {
    to_self.cache = &grown.self;
    to_memory.cache = &grown.memory;
  }
  const Tensor source = grown.memory.length() > 0 ? Tensor() : memory;

  const auto self_attention = [&](const Tensor& x) { return self_attn(x, to_self).output; };
  const auto cross_attention = [&](const Tensor& x) {
    return multihead_attn(x, source, source, to_memory).output;
  };
  const auto feed = [&](const Tensor& x) { return feed_forward(x, linear1, linear2, options, training()); };
  Tensor x = residual(tgt, norm1, options, training(), self_attention);
  x = residual(x, norm2, options, training(), cross_attention);
  x = residual(x, norm3, options, training(), feed);
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

Tensor TransformerDecoder::forward(const Tensor& tgt, const Tensor& memory, const AttendOptions& self,
                                   const AttendOptions& cross, DecoderCache* cache) const {
  check(!cache || cache->layers.empty() || cache->layers.size() == layers.size(),
        "TransformerDecoder: the cache is of ", cache ? cache->layers.size() : 0, " layers, and there are ",
        layers.size());
  DecoderCache grown = cache ? *cache : DecoderCache();
  grown.layers.resize(layers.size());
  Tensor x = tgt;
  for (size_t i = 0; i < layers.size(); ++i)
    x = layers[i](x, memory, self, cross, cache ? &grown.layers[i] : nullptr);
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

Tensor Transformer::forward(const Tensor& src, const Tensor& tgt, const AttendOptions& encoder_self,
                            const AttendOptions& decoder_self, const AttendOptions& cross) const {
  return decoder(tgt, encoder(src, encoder_self), decoder_self, cross);
}

void Transformer::visit(Visitor& v) {
  v("encoder", encoder);
  v("decoder", decoder);
}

}  // namespace heed
