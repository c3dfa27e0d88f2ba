// Attention, positions and transformers of the reference cases. In these cases true in a mask forbids
// attention, and the sequence dimension comes first unless batch_first is set.

#include "autograd/ops/logic.h"
#include "autograd/ops/shape.h"
#include "autograd/ops/softmax.h"
#include "nn/attention/kernel_regression.h"
#include "nn/attention/pooling.h"
#include "nn/attention/position.h"
#include "nn/transformer/transformer.h"
#include "tests/parity/nn_cases.h"

namespace heed::parity {
namespace {

// [L, N, E] <-> [N, L, E] unless batch_first is set; sequences without a batch stay.
Tensor swapped(const Fields& config, const Tensor& x) {
  return config.get("batch_first", false) || x.dim() != 3 ? x : transpose(x, 0, 1);
}

// Attention masks [L, S] or [N * heads, L, S] and key masks [N, S]: bool, true = may not attend, or numbers
// to add to the scores.
class Limits {
 public:
  Limits(const Inputs& in, int64_t heads, const char* attention, const char* keys) {
    const Tensor limit = in[attention], of_keys = in[keys];
    if (limit.defined())
      add(limit.dim() == 3 ? reshape(limit, {limit.size(0) / heads, heads, limit.size(1), limit.size(2)})
                           : limit);
    if (of_keys.defined()) add(of_keys.dim() == 2 ? unsqueeze(unsqueeze(of_keys, 1), 1) : of_keys);
  }
  operator AttentionOptions() const { return options_; }

 private:
  void add(const Tensor& limit) {
    if (limit.dtype() == boolean)
      options_.mask = Mask(options_.mask) & ~Mask(limit);
    else
      options_.bias = options_.bias.defined() ? options_.bias + limit : limit;
  }
  AttentionOptions options_;
};

Subject multi_head(const Fields& c, const Fields& call) {
  const auto module =
      std::make_shared<MultiheadAttention>(c["embed_dim"], c["num_heads"],
                                           MultiheadAttentionOptions{.bias = c.get("bias", true),
                                                                     .kdim = c.optional<int64_t>("kdim"),
                                                                     .vdim = c.optional<int64_t>("vdim")});
  c.has("add_bias_kv"), c.has("add_zero_attn");  // cases with true are skipped before
  return {module, [=](const Inputs& in) {
            AttentionOptions options = Limits(in, module->num_heads, "attn_mask", "key_padding_mask");
            options.need_weights = call.get("need_weights", true);
            options.average_attn_weights = call.get("average_attn_weights", true);
            const Tensor query = swapped(c, in["query"]);
            const bool self = !in["key"].defined();
            check(call.get("self_attention", self) == self, "self_attention does not fit the inputs");
            const auto [y, weights] = (*module)(query, self ? query : swapped(c, in["key"]),
                                                self ? query : swapped(c, in["value"]), options);
            Outputs outputs = {swapped(c, y)};
            if (weights.defined()) outputs.push_back(weights);
            return outputs;
          }};
}

TransformerOptions options_of(const Fields& c) {
  return {.dim_feedforward = c.get("dim_feedforward", 2048),
          .dropout = c.get("dropout", 0.0),
          .activation =
              c.choice<Activation>("activation", {{"relu", Activation::relu}, {"gelu", Activation::gelu}}),
          .layer_norm_eps = c.get("layer_norm_eps", 1e-5),
          .norm_first = c.get("norm_first", false),
          .bias = c.get("bias", true),
          .final_norm = c.get("final_norm", false)};
}

// A layer, or a stack of `num_layers`.
template <class M>
std::shared_ptr<M> made(const Fields& c) {
  if constexpr (requires(M m) { m.layers; })
    return std::make_shared<M>(c["d_model"], c["nhead"], c["num_layers"], options_of(c));
  else
    return std::make_shared<M>(c["d_model"], c["nhead"], options_of(c));
}

template <class M>
Subject encoder(const Fields& c, const Fields&) {
  const auto module = made<M>(c);
  return {module, [=](const Inputs& in) {
            const char* name = in["mask"].defined() ? "mask" : "src_mask";
            const AttentionOptions self = Limits(in, c["nhead"], name, "src_key_padding_mask");
            return Outputs{swapped(c, (*module)(swapped(c, in["src"]), self))};
          }};
}

// Options of self-attention and cross-attention of the target.
std::pair<AttentionOptions, AttentionOptions> target_limits(const Fields& c, const Inputs& in) {
  return {Limits(in, c["nhead"], "tgt_mask", "tgt_key_padding_mask"),
          Limits(in, c["nhead"], "memory_mask", "memory_key_padding_mask")};
}

template <class M>
Subject decoder(const Fields& c, const Fields&) {
  const auto module = made<M>(c);
  return {
      module, [=](const Inputs& in) {
        const auto [self, cross] = target_limits(c, in);
        return Outputs{swapped(c, (*module)(swapped(c, in["tgt"]), swapped(c, in["memory"]), self, cross))};
      }};
}

Subject transformer(const Fields& c, const Fields&) {
  const auto module = std::make_shared<Transformer>(c["d_model"], c["nhead"], c["num_encoder_layers"],
                                                    c["num_decoder_layers"], options_of(c));
  return {module, [=](const Inputs& in) {
            const AttentionOptions source = Limits(in, c["nhead"], "src_mask", "src_key_padding_mask");
            const auto [self, cross] = target_limits(c, in);
            return Outputs{
                swapped(c, (*module)(swapped(c, in["src"]), swapped(c, in["tgt"]), source, self, cross))};
          }};
}

// The mask for lengths [N] or [N, Q], if given.
Mask lengths_of(const Inputs& in, int64_t keys) {
  return in["valid_lens"].defined() ? Mask::lengths(in["valid_lens"], keys) : Mask();
}

template <class S>
Subject pooling(S score) {
  const auto module = std::make_shared<AttentionPooling<S>>(std::move(score));
  return {module, [module](const Inputs& in) {
            const auto [y, weights] =
                (*module)(in["queries"], in["keys"], in["values"], lengths_of(in, in["keys"].size(1)));
            return Outputs{y, weights};
          }};
}

// Attention with a score whose scale must be the one in the case.
template <class S, class Scale>
Subject scaled_pooling(const Fields& c, const Scale& scale) {
  check(c.get("scale", scale) == scale, "scale must be ", scale);
  return pooling(S());
}

// Multi-head attention with separate linear layers W_q, W_k, W_v and W_o.
struct ValidLenMultiHead : Layer<ValidLenMultiHead> {
  ValidLenMultiHead(int64_t width, int64_t heads, bool bias) : heads(heads) {
    for (const char* name : {"W_q", "W_k", "W_v", "W_o"})
      W.emplace(name, Linear(width, width, {.bias = bias}));
  }
  Tensor forward(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask) const {
    const auto split = [&](const char* name, const Tensor& x) {
      return transpose(reshape(W.at(name)(x), {x.size(0), x.size(1), heads, -1}), 1, 2);
    };
    const auto [y, weights] = F::scaled_dot_product_attention(
        split("W_q", q), split("W_k", k), split("W_v", v), {.mask = heed::detail::for_heads(mask)});
    return W.at("W_o")(flatten(transpose(y, 1, 2), 2));
  }
  void visit(Visitor& v) override {
    for (auto& [name, map] : W) v(name, map);
  }
  int64_t heads;
  std::map<std::string, Linear> W;
};

}  // namespace

const Builds& attentions() {
  using Config = const Fields&;
  static const Builds table = {
      {"MultiheadAttention", multi_head},
      {"TransformerEncoderLayer", encoder<TransformerEncoderLayer>},
      {"TransformerEncoder", encoder<TransformerEncoder>},
      {"TransformerDecoderLayer", decoder<TransformerDecoderLayer>},
      {"TransformerDecoder", decoder<TransformerDecoder>},
      {"Transformer", transformer},
      {"PositionalEncoding",
       [](Config c, Config) {
         const auto module = std::make_shared<SinusoidalPosition>(c["num_hiddens"]);
         check(c.get("dropout", 0.0) == 0, "dropout must be 0");
         const auto most = c.optional<int64_t>("steps");
         return Subject{module, [=](const Inputs& in) {
                          const Tensor& x = in["x"];
                          check(!most || x.size(1) <= *most, "more positions than steps");
                          return Outputs{(*module)(x), module->table(x.size(1), 0, x.dtype())};
                        }};
       }},
      {"masked_softmax",
       [](Config, Config) {
         return Subject{nullptr, [](const Inputs& in) {
                          const Tensor& scores = in["scores"];
                          return Outputs{masked_softmax(scores, lengths_of(in, scores.size(-1)).allowed())};
                        }};
       }},
      {"AdditiveAttention",
       [](Config c, Config) {
         return pooling(AdditiveScore(c["query_size"], c["key_size"], c["num_hiddens"]));
       }},
      {"BilinearAttention",
       [](Config c, Config) { return pooling(BilinearScore(c["query_size"], c["key_size"])); }},
      {"DotProductAttention", [](Config c, Config) { return scaled_pooling<DotScore>(c, 1.0); }},
      {"ScaledDotProductAttention",
       [](Config c, Config) { return scaled_pooling<ScaledDotScore>(c, std::string("1/sqrt(d)")); }},
      {"ValidLenMultiHeadAttention",
       [](Config c, Config) {
         const auto module =
             std::make_shared<ValidLenMultiHead>(c["num_hiddens"], c["num_heads"], c.get("bias", false));
         return Subject{module, [module](const Inputs& in) {
                          return Outputs{(*module)(in["queries"], in["keys"], in["values"],
                                                   lengths_of(in, in["keys"].size(1)))};
                        }};
       }},
      {"NadarayaWatson",
       [](Config c, Config) {
         const SmoothingKernel kernel = c.choice<SmoothingKernel>(
             "kernel", {{"gaussian", SmoothingKernel::gaussian},
                        {"boxcar", SmoothingKernel::boxcar},
                        {"constant", SmoothingKernel::constant},
                        {"epanechnikov", SmoothingKernel::triangular}});  // the name in d2l
         const double w = 1 / c.get("bandwidth", 1.0);
         return Subject{nullptr, [=](const Inputs& in) {
                          const Tensor weights = kernel_weights(in["queries"], in["keys"], kernel, w);
                          return Outputs{attention_pool(weights, in["values"]), weights};
                        }};
       }},
  };
  return table;
}

}  // namespace heed::parity
