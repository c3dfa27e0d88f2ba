// The reference cases of attention, positions and transformers. Masks there are true where attention is not
// allowed, and sequences come first unless batch_first is set.
#include <doctest/doctest.h>

#include <cmath>

#include "nn/attention/multi_head.h"
#include "nn/attention/pooling.h"
#include "nn/transformer/transformer.h"
#include "tests/parity/nn_cases.h"

using namespace heed;
using parity::Build, parity::Inputs, parity::Json, parity::optional, parity::Outputs, parity::Subject;

namespace {

// [L, N, E] <-> [N, L, E] where the case has sequences first; sequences without a batch stay.
Tensor swapped(const Json& config, const Tensor& x) {
  return config.value("batch_first", false) || x.dim() != 3 ? x : transpose(x, 0, 1);
}

// Masks [L, S], [N * heads, L, S] and, of the keys, [N, S]: what may attend, and what is added to the scores.
struct Limits {
  Mask mask;
  Tensor bias;

  void attention(const Tensor& limit, int64_t heads) {
    if (!limit.defined()) return;
    add(limit.dim() == 3 ? reshape(limit, {limit.size(0) / heads, heads, limit.size(1), limit.size(2)})
                         : limit);
  }
  void keys(const Tensor& limit) {
    if (limit.defined()) add(limit.dim() == 2 ? unsqueeze(unsqueeze(limit, 1), 1) : limit);
  }

 private:
  void add(const Tensor& limit) {
    if (limit.dtype() == boolean)
      mask = mask & ~Mask(limit);
    else
      bias = bias.defined() ? bias + limit : limit;
  }
};

Mask limit(Inputs& in, const Json& config, const char* attention, const char* keys) {
  Limits limits;
  limits.attention(in[attention], config.at("nhead"));
  limits.keys(in[keys]);
  if (limits.bias.defined()) limits.mask = limits.mask & Mask(limits.bias > -INFINITY);
  return limits.mask;
}

Subject multi_head(const Json& c, const Json& call) {
  const auto module =
      std::make_shared<MultiheadAttention>(c.at("embed_dim"), c.at("num_heads"),
                                           MultiheadAttentionOptions{.bias = c.value("bias", true),
                                                                     .kdim = optional<int64_t>(c, "kdim"),
                                                                     .vdim = optional<int64_t>(c, "vdim")});
  return {module, [=](Inputs& in) {
            Limits limits;
            limits.attention(in["attn_mask"], module->num_heads);
            limits.keys(in["key_padding_mask"]);
            const AttendOptions options{.mask = limits.mask,
                                        .bias = limits.bias,
                                        .need_weights = call.value("need_weights", true),
                                        .average_attn_weights = call.value("average_attn_weights", true)};
            const Tensor query = swapped(c, in["query"]);
            const bool self = !in["key"].defined();
            const auto [y, weights] = (*module)(query, self ? query : swapped(c, in["key"]),
                                                self ? query : swapped(c, in["value"]), options);
            Outputs outputs = {swapped(c, y)};
            if (weights.defined()) outputs.push_back(weights);
            return outputs;
          }};
}

TransformerOptions options_of(const Json& c) {
  return {.dim_feedforward = c.value("dim_feedforward", 2048),
          .dropout = c.value("dropout", 0.1),
          .activation = c.value("activation", "relu") == "gelu" ? Activation::gelu : Activation::relu,
          .layer_norm_eps = c.value("layer_norm_eps", 1e-5),
          .norm_first = c.value("norm_first", false),
          .bias = c.value("bias", true),
          .final_norm = c.value("final_norm", false)};
}

Subject encoder(const auto& module, const Json& c) {
  return {module, [=](Inputs& in) {
            const Mask mask =
                limit(in, c, c.contains("num_layers") ? "mask" : "src_mask", "src_key_padding_mask");
            return Outputs{swapped(c, (*module)(swapped(c, in["src"]), mask))};
          }};
}

Subject decoder(const auto& module, const Json& c) {
  return {
      module, [=](Inputs& in) {
        const Mask own = limit(in, c, "tgt_mask", "tgt_key_padding_mask");
        const Mask other = limit(in, c, "memory_mask", "memory_key_padding_mask");
        return Outputs{swapped(c, (*module)(swapped(c, in["tgt"]), swapped(c, in["memory"]), own, other))};
      }};
}

Subject transformer(const Json& c, const Json&) {
  const auto module = std::make_shared<Transformer>(
      c.at("d_model"), c.at("nhead"), c.at("num_encoder_layers"), c.at("num_decoder_layers"), options_of(c));
  return {module, [=](Inputs& in) {
            const Mask source = limit(in, c, "src_mask", "src_key_padding_mask");
            const Mask own = limit(in, c, "tgt_mask", "tgt_key_padding_mask");
            const Mask other = limit(in, c, "memory_mask", "memory_key_padding_mask");
            return Outputs{
                swapped(c, (*module)(swapped(c, in["src"]), swapped(c, in["tgt"]), source, own, other))};
          }};
}

// Lengths [N] or [N, Q], or none.
Mask lengths_of(Inputs& in, int64_t keys) {
  return in["valid_lens"].defined() ? Mask::lengths(in["valid_lens"], keys) : Mask();
}

template <class S>
Subject pooling(S score) {
  const auto module = std::make_shared<AttentionPooling<S>>(std::move(score));
  return {module, [module](Inputs& in) {
            const auto [y, weights] =
                (*module)(in["queries"], in["keys"], in["values"], lengths_of(in, in["keys"].size(1)));
            return Outputs{y, weights};
          }};
}

// Linear maps under names of their own around heads of scaled dot products.
struct ValidLenMultiHead : Layer<ValidLenMultiHead> {
  ValidLenMultiHead(int64_t width, int64_t heads, bool bias)
      : heads(heads),
        W_q(width, width, {.bias = bias}),
        W_k(width, width, {.bias = bias}),
        W_v(width, width, {.bias = bias}),
        W_o(width, width, {.bias = bias}) {}
  Tensor forward(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask) const {
    const auto split = [&](const Tensor& x) {
      return transpose(reshape(x, {x.size(0), x.size(1), heads, -1}), 1, 2);
    };
    const auto [y, weights] = F::scaled_dot_product_attention(split(W_q(q)), split(W_k(k)), split(W_v(v)),
                                                              {.mask = mask.for_heads()});
    return W_o(flatten(transpose(y, 1, 2), 2));
  }
  void visit(Visitor& v) override {
    v("W_q", W_q);
    v("W_k", W_k);
    v("W_v", W_v);
    v("W_o", W_o);
  }
  int64_t heads;
  Linear W_q, W_k, W_v, W_o;
};

const std::map<std::string, Build>& builders() {
  using Config = const Json&;
  static const std::map<std::string, Build> table = {
      {"MultiheadAttention", multi_head},
      {"TransformerEncoderLayer",
       [](Config c, Config) {
         return encoder(
             std::make_shared<TransformerEncoderLayer>(c.at("d_model"), c.at("nhead"), options_of(c)), c);
       }},
      {"TransformerEncoder",
       [](Config c, Config) {
         return encoder(std::make_shared<TransformerEncoder>(c.at("d_model"), c.at("nhead"),
                                                             c.at("num_layers"), options_of(c)),
                        c);
       }},
      {"TransformerDecoderLayer",
       [](Config c, Config) {
         return decoder(
             std::make_shared<TransformerDecoderLayer>(c.at("d_model"), c.at("nhead"), options_of(c)), c);
       }},
      {"TransformerDecoder",
       [](Config c, Config) {
         return decoder(std::make_shared<TransformerDecoder>(c.at("d_model"), c.at("nhead"),
                                                             c.at("num_layers"), options_of(c)),
                        c);
       }},
      {"Transformer", transformer},
      {"PositionalEncoding",
       [](Config c, Config) {
         const auto module = std::make_shared<SinusoidalPosition>(c.at("num_hiddens"));
         return Subject{module, [module](Inputs& in) {
                          const Tensor& x = in["x"];
                          return Outputs{(*module)(x), module->table(x.size(1), 0, x.dtype())};
                        }};
       }},
      {"masked_softmax",
       [](Config, Config) {
         return Subject{nullptr, [](Inputs& in) {
                          const Tensor& scores = in["scores"];
                          return Outputs{masked_softmax(scores, lengths_of(in, scores.size(-1)).allowed())};
                        }};
       }},
      {"AdditiveAttention",
       [](Config c, Config) {
         return pooling(AdditiveScore(c.at("query_size"), c.at("key_size"), c.at("num_hiddens")));
       }},
      {"BilinearAttention",
       [](Config c, Config) { return pooling(BilinearScore(c.at("query_size"), c.at("key_size"))); }},
      {"DotProductAttention", [](Config, Config) { return pooling(DotScore()); }},
      {"ScaledDotProductAttention", [](Config, Config) { return pooling(ScaledDotScore()); }},
      {"ValidLenMultiHeadAttention",
       [](Config c, Config) {
         const auto module = std::make_shared<ValidLenMultiHead>(c.at("num_hiddens"), c.at("num_heads"),
                                                                 c.value("bias", false));
         return Subject{module, [module](Inputs& in) {
                          return Outputs{(*module)(in["queries"], in["keys"], in["values"],
                                                   lengths_of(in, in["keys"].size(1)))};
                        }};
       }},
  };
  return table;
}

}  // namespace

TEST_CASE("attention, positions and transformers agree with the reference cases") {
  parity::check_groups({"Attention", "MultiheadAttention", "PositionalEncoding", "Transformer",
                        "TransformerDecoder", "TransformerEncoder"},
                       builders());
}
