// The reference cases of modules and losses: outputs, and gradients of inputs and parameters.
#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <set>

#include "autograd/engine.h"
#include "nn/functional.h"
#include "nn/layers/activation.h"
#include "nn/layers/embedding.h"
#include "nn/layers/linear.h"
#include "nn/layers/norm.h"
#include "nn/layers/sequential.h"
#include "nn/safetensors.h"
#include "tests/support/leaves.h"
#include "tests/support/parity.h"

using namespace heed;
using parity::Json;

namespace {

using Inputs = std::map<std::string, Tensor>;
using Outputs = std::vector<Tensor>;

// A module, or none for a loss, and how to call it.
struct Subject {
  std::shared_ptr<Module> module;
  std::function<Outputs(Inputs&)> call;
};
using Build = std::function<Subject(const Json& config)>;

template <class M>
Subject unary(M layer) {
  const auto module = std::make_shared<M>(std::move(layer));
  return {module, [module](Inputs& in) { return Outputs{(*module)(in["input"])}; }};
}

template <class T>
std::optional<T> optional(const Json& config, const char* name) {
  const auto it = config.find(name);
  return it == config.end() || it->is_null() ? std::nullopt : std::optional<T>(it->get<T>());
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
  return [call](const Json& config) {
    return Subject{nullptr, [call, config](Inputs& in) { return Outputs{call(in, config)}; }};
  };
}

const std::map<std::string, Build>& builders() {
  using Config = const Json&;
  static const std::map<std::string, Build> table = {
      {"Linear",
       [](Config c) {
         return unary(Linear(c.at("in_features"), c.at("out_features"), {.bias = c.value("bias", true)}));
       }},
      {"Embedding",
       [](Config c) {
         return unary(Embedding(c.at("num_embeddings"), c.at("embedding_dim"),
                                {.padding_idx = optional<int64_t>(c, "padding_idx")}));
       }},
      {"LayerNorm",
       [](Config c) {
         return unary(LayerNorm(shape_of(c.at("normalized_shape")),
                                {.eps = c.value("eps", 1e-5),
                                 .elementwise_affine = c.value("elementwise_affine", true),
                                 .bias = c.value("bias", true)}));
       }},
      {"RMSNorm",
       [](Config c) {
         return unary(RMSNorm(
             shape_of(c.at("normalized_shape")),
             {.eps = optional<double>(c, "eps"), .elementwise_affine = c.value("elementwise_affine", true)}));
       }},
      {"Sequential",
       [](Config c) {
         Sequential model;
         for (const Json& layer : c.at("layers")) push_layer(model, layer);
         return unary(std::move(model));
       }},
      {"ReLU", [](Config) { return unary(ReLU()); }},
      {"GELU",
       [](Config c) {
         return unary(GELU(c.value("approximate", "none") == "tanh" ? Gelu::tanh : Gelu::none));
       }},
      {"Tanh", [](Config) { return unary(Tanh()); }},
      {"Sigmoid", [](Config) { return unary(Sigmoid()); }},
      {"SiLU", [](Config) { return unary(SiLU()); }},
      {"ELU", [](Config c) { return unary(ELU(c.value("alpha", 1.0))); }},
      {"Softplus",
       [](Config c) { return unary(Softplus(c.value("beta", 1.0), c.value("threshold", 20.0))); }},
      {"LeakyReLU", [](Config c) { return unary(LeakyReLU(c.value("negative_slope", 0.01))); }},
      {"Softmax", [](Config c) { return unary(Softmax(c.at("dim").get<int64_t>())); }},
      {"LogSoftmax", [](Config c) { return unary(LogSoftmax(c.at("dim").get<int64_t>())); }},
      {"Flatten", [](Config c) { return unary(Flatten(c.value("start_dim", 1), c.value("end_dim", -1))); }},
      {"Identity", [](Config) { return unary(Identity()); }},

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

// What is wrong with one case; "" if nothing is.
std::string run(const parity::Cases& cases, const Json& one) {
  const Subject subject = builders().at(one.at("op"))(one.at("config"));
  StateDict given;
  if (one.contains("state_dict_file"))
    given = load_safetensors(parity::folder() + "/" + one["state_dict_file"].get<std::string>()).tensors;
  if (one.contains("params"))
    for (const auto& [name, tensor] : one["params"].items()) given[name] = cases.tensor(tensor);
  if (subject.module) {
    subject.module->to(one.at("dtype") == "F64" ? float64 : float32);
    subject.module->load_state_dict(given);
  }

  Inputs inputs;
  const Json& input_grads = one.at("input_grads");
  for (const auto& [name, tensor] : one.at("inputs").items()) {
    inputs[name] = cases.tensor(tensor);
    if (input_grads.contains(name)) inputs[name].requires_grad_();
  }
  const Outputs outputs = subject.call(inputs);

  std::string wrong;
  const auto compare = [&](const std::string& what, const Tensor& got, const Tensor& want) {
    const std::string difference =
        got.defined() ? parity::difference(got, want, parity::tolerance(one)) : "is undefined";
    if (!difference.empty()) wrong += "\n    " + what + " " + difference;
  };
  const Json& wanted = one.at("outputs");
  REQUIRE(outputs.size() == wanted.size());
  Outputs differentiated, cotangents;
  for (size_t i = 0; i < outputs.size(); ++i) {
    compare(wanted[i].at("name"), outputs[i], cases.tensor(wanted[i].at("tensor")));
    if (!wanted[i].contains("cotangent") || !outputs[i].requires_grad()) continue;
    differentiated.push_back(outputs[i]);
    cotangents.push_back(cases.tensor(wanted[i]["cotangent"]));
    if (subject.module) {
      std::vector<Tensor> leaves;
      for (const auto& [name, tensor] : inputs)
        if (tensor.defined()) leaves.push_back(tensor);
      wrong += test::forgotten_leaves(outputs[i], *subject.module, leaves);
    }
  }
  if (!differentiated.empty()) backward(differentiated, {.grad_outputs = cotangents});

  for (const auto& [name, tensor] : input_grads.items())
    compare("gradient of " + name, inputs[name].grad(), cases.tensor(tensor));
  if (!subject.module) return wrong;
  const Json& param_grads = one.at("param_grads");
  for (const auto& [name, parameter] : subject.module->named_parameters()) {
    if (param_grads.contains(name))
      compare("gradient of " + name, parameter.grad(), cases.tensor(param_grads[name]));
    else if (parameter.grad().defined())
      wrong += "\n    " + name + " has a gradient and must have none";
  }
  return wrong;
}

}  // namespace

TEST_CASE("modules and losses agree with the reference cases") {
  // Groups of layers that are not there yet are left out; in these every case counts.
  const std::set<std::string> groups = {"Linear",     "Embedding",  "LayerNorm", "RMSNorm",
                                        "Sequential", "Activation", "Dropout",   "Loss"};
  const parity::Cases cases("nn.json");
  int count = 0;
  for (const Json& one : cases) {
    if (!groups.contains(one.at("group"))) continue;
    ++count;
    std::string wrong;
    try {
      wrong = run(cases, one);
    } catch (const std::exception& error) {
      wrong = std::string("\n    threw: ") + error.what();
    }
    if (!wrong.empty()) FAIL_CHECK(one.at("id").get<std::string>(), wrong);
  }
  CHECK(count > 0);
}
