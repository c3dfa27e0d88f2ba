#include "tests/parity/nn_cases.h"

#include <doctest/doctest.h>

#include "autograd/engine.h"
#include "nn/safetensors.h"
#include "tests/support/leaves.h"

namespace heed::parity {
namespace {

// What is wrong with one case; "" if nothing is.
std::string run(const Cases& cases, const Json& one, const Build& build) {
  const Subject subject = build(one.at("config"), one.value("call", Json::object()));
  StateDict given;
  if (one.contains("state_dict_file"))
    given = load_safetensors(folder() + "/" + one["state_dict_file"].get<std::string>()).tensors;
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
    const std::string far = got.defined() ? difference(got, want, tolerance(one)) : "is undefined";
    if (!far.empty()) wrong += "\n    " + what + " " + far;
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

void check_groups(const std::set<std::string>& groups, const std::map<std::string, Build>& builders) {
  const Cases cases("nn.json");
  int count = 0;
  for (const Json& one : cases) {
    if (!groups.contains(one.at("group"))) continue;
    ++count;
    std::string wrong;
    try {
      wrong = run(cases, one, builders.at(one.at("op")));
    } catch (const std::exception& error) {
      wrong = std::string("\n    threw: ") + error.what();
    }
    if (!wrong.empty()) FAIL_CHECK(one.at("id").get<std::string>(), wrong);
  }
  CHECK(count > 0);
}

}  // namespace heed::parity
