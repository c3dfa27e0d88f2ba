// Layers and losses as the reference cases name them.
#include "nn/functional.h"
#include "nn/layers/activation.h"
#include "nn/layers/dropout.h"
#include "nn/layers/embedding.h"
#include "nn/layers/linear.h"
#include "nn/layers/norm.h"
#include "nn/layers/sequential.h"
#include "tests/parity/expression.h"

namespace heed::parity {
namespace {

template <class M>
Subject unary(M layer) {
  const auto module = std::make_shared<M>(std::move(layer));
  return {module, [module](const Inputs& in) { return Outputs{(*module)(in["input"])}; }};
}

Shape shape_of(const Json& sizes) {
  return sizes.is_array() ? Shape(sizes.get<std::vector<int64_t>>()) : Shape{sizes.get<int64_t>()};
}

// A layer that is known at run time only, as a part of Sequential.
struct AnyLayer : Layer<AnyLayer> {
  explicit AnyLayer(Subject subject) : subject(std::move(subject)) {}
  Tensor forward(const Tensor& x) const { return subject.call(Inputs({{"input", x}})).at(0); }
  void visit(Visitor& v) override { subject.module->visit(v); }
  Subject subject;
};

Reduction reduction_of(const Fields& config) {
  return config.choice<Reduction>("reduction", {{"mean", Reduction::mean},
                                                {"none", Reduction::none},
                                                {"sum", Reduction::sum},
                                                {"batchmean", Reduction::batchmean}});
}

template <class F>
Build loss(F call) {
  return [call](const Fields& config, const Fields&) {
    return Subject{nullptr, [call, config](const Inputs& in) { return Outputs{call(in, config)}; }};
  };
}

}  // namespace

const Builds& layers() {
  using Config = const Fields&;
  static const Builds table = {
      {"Linear",
       [](Config c, Config) {
         return unary(Linear(c["in_features"], c["out_features"], {.bias = c.get("bias", true)}));
       }},
      {"Embedding",
       [](Config c, Config) {
         return unary(Embedding(c["num_embeddings"], c["embedding_dim"],
                                {.padding_idx = c.optional<int64_t>("padding_idx")}));
       }},
      {"LayerNorm",
       [](Config c, Config) {
         return unary(LayerNorm(shape_of(c["normalized_shape"]),
                                {.eps = c.get("eps", 1e-5),
                                 .elementwise_affine = c.get("elementwise_affine", true),
                                 .bias = c.get("bias", true)}));
       }},
      {"RMSNorm",
       [](Config c, Config) {
         return unary(RMSNorm(
             shape_of(c["normalized_shape"]),
             {.eps = c.optional<double>("eps"), .elementwise_affine = c.get("elementwise_affine", true)}));
       }},
      {"Sequential",
       [](Config c, Config) {
         Sequential model;
         for (const Json& layer : c["layers"]) model.push_back(AnyLayer(evaluate(layer, {}).layer));
         return unary(std::move(model));
       }},
      {"ReLU", [](Config, Config) { return unary(ReLU()); }},
      {"GELU",
       [](Config c, Config) {
         return unary(GELU(c.choice<Gelu>("approximate", {{"none", Gelu::none}, {"tanh", Gelu::tanh}})));
       }},
      {"Tanh", [](Config, Config) { return unary(Tanh()); }},
      {"Sigmoid", [](Config, Config) { return unary(Sigmoid()); }},
      {"SiLU", [](Config, Config) { return unary(SiLU()); }},
      {"ELU", [](Config c, Config) { return unary(ELU(c.get("alpha", 1.0))); }},
      {"Softplus",
       [](Config c, Config) { return unary(Softplus(c.get("beta", 1.0), c.get("threshold", 20.0))); }},
      {"LeakyReLU", [](Config c, Config) { return unary(LeakyReLU(c.get("negative_slope", 0.01))); }},
      {"Softmax", [](Config c, Config) { return unary(Softmax(c["dim"].get<int64_t>())); }},
      {"LogSoftmax", [](Config c, Config) { return unary(LogSoftmax(c["dim"].get<int64_t>())); }},
      {"Flatten",
       [](Config c, Config) { return unary(Flatten(c.get("start_dim", 1), c.get("end_dim", -1))); }},
      {"Identity", [](Config, Config) { return unary(Identity()); }},
      {"Dropout",
       [](Config c, Config) {
         const double p = c.get("p", 0.5);
         Subject dropout = unary(Dropout(p));
         dropout.module->eval();
         return dropout;
       }},

      {"mse_loss", loss([](const Inputs& in, Config c) {
         return F::mse_loss(in["input"], in["target"], reduction_of(c));
       })},
      {"l1_loss", loss([](const Inputs& in, Config c) {
         return F::l1_loss(in["input"], in["target"], reduction_of(c));
       })},
      {"smooth_l1_loss", loss([](const Inputs& in, Config c) {
         return F::smooth_l1_loss(in["input"], in["target"], reduction_of(c), c.get("beta", 1.0));
       })},
      {"huber_loss", loss([](const Inputs& in, Config c) {
         return F::huber_loss(in["input"], in["target"], reduction_of(c), c.get("delta", 1.0));
       })},
      {"kl_div", loss([](const Inputs& in, Config c) {
         return F::kl_div(in["input"], in["target"],
                          {.reduction = reduction_of(c), .log_target = c.get("log_target", false)});
       })},
      {"binary_cross_entropy", loss([](const Inputs& in, Config c) {
         return F::binary_cross_entropy(
             in["input"], in["target"],
             {.weight = in["weight"], .reduction = reduction_of(c), .pos_weight = {}});
       })},
      {"binary_cross_entropy_with_logits", loss([](const Inputs& in, Config c) {
         return F::binary_cross_entropy_with_logits(
             in["input"], in["target"],
             {.weight = in["weight"], .reduction = reduction_of(c), .pos_weight = in["pos_weight"]});
       })},
      {"nll_loss", loss([](const Inputs& in, Config c) {
         return F::nll_loss(in["input"], in["target"],
                            {.weight = in["weight"],
                             .ignore_index = c.get("ignore_index", -100),
                             .reduction = reduction_of(c)});
       })},
      {"cross_entropy", loss([](const Inputs& in, Config c) {
         return F::cross_entropy(in["input"], in["target"],
                                 {.weight = in["weight"],
                                  .ignore_index = c.get("ignore_index", -100),
                                  .reduction = reduction_of(c),
                                  .label_smoothing = c.get("label_smoothing", 0.0)});
       })},
  };
  return table;
}

}  // namespace heed::parity
