// The reference cases of layers and losses.
#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <regex>

#include "nn/functional.h"
#include "nn/layers/activation.h"
#include "nn/layers/embedding.h"
#include "nn/layers/linear.h"
#include "nn/layers/norm.h"
#include "nn/layers/sequential.h"
#include "tests/parity/nn_cases.h"

using namespace heed;
using parity::Build, parity::Inputs, parity::Json, parity::optional, parity::Outputs, parity::Subject;

namespace {

template <class M>
Subject unary(M layer) {
  const auto module = std::make_shared<M>(std::move(layer));
  return {module, [module](Inputs& in) { return Outputs{(*module)(in["input"])}; }};
}

Shape shape_of(const Json& sizes) {
  return sizes.is_array() ? Shape(sizes.get<std::vector<int64_t>>()) : Shape{sizes.get<int64_t>()};
}

// "Linear(4,6)"
void push_layer(Sequential& model, const std::string& text) {
  static const std::regex form(R"((\w+)\(([^)]*)\))");
  std::smatch match;
  REQUIRE(std::regex_match(text, match, form));
  const std::string name = match[1];
  const std::string values = match[2];
  const Json arguments = Json::parse("[" + values + "]");
  const auto integer = [&](size_t i) { return arguments.at(i).get<int64_t>(); };
  if (name == "Linear") return model.push_back(Linear(integer(0), integer(1)));
  if (name == "LayerNorm") return model.push_back(LayerNorm(integer(0)));
  if (name == "RMSNorm") return model.push_back(RMSNorm(integer(0)));
  if (name == "ReLU") return model.push_back(ReLU());
  if (name == "GELU") return model.push_back(GELU());
  if (name == "Tanh") return model.push_back(Tanh());
  if (name == "Sigmoid") return model.push_back(Sigmoid());
  if (name == "SiLU") return model.push_back(SiLU());
  if (name == "Identity") return model.push_back(Identity());
  if (name == "Flatten") return model.push_back(Flatten());
  FAIL("no layer ", text);
}

Reduction reduction_of(const Json& config) {
  static const std::map<std::string, Reduction> names = {{"none", Reduction::none},
                                                         {"mean", Reduction::mean},
                                                         {"sum", Reduction::sum},
                                                         {"batchmean", Reduction::batchmean}};
  return names.at(config.value("reduction", "mean"));
}

template <class F>
Build loss(F call) {
  return [call](const Json& config, const Json&) {
    return Subject{nullptr, [call, config](Inputs& in) { return Outputs{call(in, config)}; }};
  };
}

const std::map<std::string, Build>& builders() {
  using Config = const Json&;
  static const std::map<std::string, Build> table = {
      {"Linear",
       [](Config c, Config) {
         return unary(Linear(c.at("in_features"), c.at("out_features"), {.bias = c.value("bias", true)}));
       }},
      {"Embedding",
       [](Config c, Config) {
         return unary(Embedding(c.at("num_embeddings"), c.at("embedding_dim"),
                                {.padding_idx = optional<int64_t>(c, "padding_idx")}));
       }},
      {"LayerNorm",
       [](Config c, Config) {
         return unary(LayerNorm(shape_of(c.at("normalized_shape")),
                                {.eps = c.value("eps", 1e-5),
                                 .elementwise_affine = c.value("elementwise_affine", true),
                                 .bias = c.value("bias", true)}));
       }},
      {"RMSNorm",
       [](Config c, Config) {
         return unary(RMSNorm(
             shape_of(c.at("normalized_shape")),
             {.eps = optional<double>(c, "eps"), .elementwise_affine = c.value("elementwise_affine", true)}));
       }},
      {"Sequential",
       [](Config c, Config) {
         Sequential model;
         for (const Json& layer : c.at("layers")) push_layer(model, layer);
         return unary(std::move(model));
       }},
      {"ReLU", [](Config, Config) { return unary(ReLU()); }},
      {"GELU",
       [](Config c, Config) {
         return unary(GELU(c.value("approximate", "none") == "tanh" ? Gelu::tanh : Gelu::none));
       }},
      {"Tanh", [](Config, Config) { return unary(Tanh()); }},
      {"Sigmoid", [](Config, Config) { return unary(Sigmoid()); }},
      {"SiLU", [](Config, Config) { return unary(SiLU()); }},
      {"ELU", [](Config c, Config) { return unary(ELU(c.value("alpha", 1.0))); }},
      {"Softplus",
       [](Config c, Config) { return unary(Softplus(c.value("beta", 1.0), c.value("threshold", 20.0))); }},
      {"LeakyReLU", [](Config c, Config) { return unary(LeakyReLU(c.value("negative_slope", 0.01))); }},
      {"Softmax", [](Config c, Config) { return unary(Softmax(c.at("dim").get<int64_t>())); }},
      {"LogSoftmax", [](Config c, Config) { return unary(LogSoftmax(c.at("dim").get<int64_t>())); }},
      {"Flatten",
       [](Config c, Config) { return unary(Flatten(c.value("start_dim", 1), c.value("end_dim", -1))); }},
      {"Identity", [](Config, Config) { return unary(Identity()); }},

      {"mse_loss",
       loss([](Inputs& in, Config c) { return F::mse_loss(in["input"], in["target"], reduction_of(c)); })},
      {"l1_loss",
       loss([](Inputs& in, Config c) { return F::l1_loss(in["input"], in["target"], reduction_of(c)); })},
      {"smooth_l1_loss", loss([](Inputs& in, Config c) {
         return F::smooth_l1_loss(in["input"], in["target"], reduction_of(c), c.value("beta", 1.0));
       })},
      {"huber_loss", loss([](Inputs& in, Config c) {
         return F::huber_loss(in["input"], in["target"], reduction_of(c), c.value("delta", 1.0));
       })},
      {"kl_div", loss([](Inputs& in, Config c) {
         return F::kl_div(in["input"], in["target"],
                          {.reduction = reduction_of(c), .log_target = c.value("log_target", false)});
       })},
      {"binary_cross_entropy", loss([](Inputs& in, Config c) {
         return F::binary_cross_entropy(
             in["input"], in["target"],
             {.weight = in["weight"], .reduction = reduction_of(c), .pos_weight = {}});
       })},
      {"binary_cross_entropy_with_logits", loss([](Inputs& in, Config c) {
         return F::binary_cross_entropy_with_logits(
             in["input"], in["target"],
             {.weight = in["weight"], .reduction = reduction_of(c), .pos_weight = in["pos_weight"]});
       })},
      {"nll_loss", loss([](Inputs& in, Config c) {
         return F::nll_loss(in["input"], in["target"],
                            {.weight = in["weight"],
                             .ignore_index = c.value("ignore_index", -100),
                             .reduction = reduction_of(c)});
       })},
      {"cross_entropy", loss([](Inputs& in, Config c) {
         return F::cross_entropy(in["input"], in["target"],
                                 {.weight = in["weight"],
                                  .ignore_index = c.value("ignore_index", -100),
                                  .reduction = reduction_of(c),
                                  .label_smoothing = c.value("label_smoothing", 0.0)});
       })},
  };
  return table;
}

}  // namespace

TEST_CASE("modules and losses agree with the reference cases") {
  parity::check_groups(
      {"Linear", "Embedding", "LayerNorm", "RMSNorm", "Sequential", "Activation", "Dropout", "Loss"},
      builders());
}
