#include "tests/parity/nn_cases.h"

#include "nn/files/safetensors.h"
#include "tensor/create.h"
#include "tests/support/leaves.h"

namespace heed::parity {
namespace {

std::string run_module(const Cases& cases, const Json& one, const Fields& fields, const Build& build) {
  const Fields config("configuration key", fields["config"]),
      call("call argument", one.value("call", Json::object()));
  fields.has("call");
  const Subject subject = build(config, call);
  StateDict given;
  if (fields.has("state_dict_file"))
    given = load_safetensors(folder() + "/" + fields["state_dict_file"].get<std::string>()).tensors;
  if (fields.has("params"))
    for (const auto& [name, tensor] : fields["params"].items()) given[name] = cases.tensor(tensor);
  check(subject.module || given.empty(), "parameters without a module");
  if (subject.module) {
    subject.module->to(one.at("dtype") == "F64" ? float64 : float32);
    subject.module->load_state_dict(given);
  }

  const Json &input_grads = fields["input_grads"], &param_grads = fields["param_grads"];
  std::map<std::string, Tensor> tensors;
  std::vector<Tensor> leaves;
  for (const auto& [name, tensor] : fields["inputs"].items()) {
    leaves.push_back(tensors[name] = cases.tensor(tensor));
    if (input_grads.contains(name)) leaves.back().requires_grad_();
  }
  const Inputs inputs(tensors);
  const Outputs outputs = subject.call(inputs);
  inputs.check_all_asked();
  config.check_all_asked();
  call.check_all_asked();

  Differences differences(cases, one);
  if (subject.module)
    for (const Tensor& output : outputs)
      if (const std::string leaf = test::unregistered_leaves(output, *subject.module, leaves); !leaf.empty())
        differences.found(leaf);
  fields.has("outputs");
  differences.outputs(outputs);
  for (const auto& [name, tensor] : input_grads.items()) {
    const Tensor &input = inputs.all().at(name), grad = input.grad();
    differences.compare("gradient of " + name, grad.defined() ? grad : zeros_like(input), tensor);
  }
  if (!subject.module) return differences.text();
  for (const auto& [name, parameter] : subject.module->named_parameters()) {
    if (param_grads.contains(name))
      differences.compare("gradient of " + name, parameter.grad(), param_grads[name]);
    else if (parameter.grad().defined())
      differences.found(name + " has a gradient and must have none");
  }
  for (const auto& item : param_grads.items())
    check(given.contains(item.key()), "a gradient for ", item.key(), ", which is not a parameter");
  return differences.text();
}

// False for options of MultiheadAttention that heed does not support.
bool offered(const Json& one) {
  for (const char* key : {"add_bias_kv", "add_zero_attn"})
    if (one.contains("config") && one["config"].value(key, false)) return false;
  return true;
}

std::string run(const Cases& cases, const Json& one) {
  static const std::string groups =
      " Activation Attention AttentionPooling Cell Dropout Embedding GRU LSTM LayerNorm Linear Loss Train "
      "MultiheadAttention NWRegression Optim RMSNorm PositionalEncoding RNN Transformer TransformerDecoder "
      "TransformerEncoder Sequential ";
  const Fields fields("field", one);
  for (const char* name : {"id", "dtype", "tags", "tol"})
    check(fields.has(name), "field ", name, " is missing");
  const std::string op = fields["op"], group = fields["group"];
  check(groups.find(" " + group + " ") != groups.npos, "group ", group, " is not known");
  if (!offered(one)) return "";
  const auto build = builds().find(op);
  const auto training = trainings().find(op);
  check(build != builds().end() || training != trainings().end(), "op ", op, " is not known");
  const std::string wrong = build != builds().end() ? run_module(cases, one, fields, build->second)
                                                    : training->second(cases, one, fields);
  fields.check_all_asked();
  return wrong;
}

}  // namespace

Inputs::Inputs(std::map<std::string, Tensor> tensors)
    : tensors_(std::move(tensors)), names_("input", [this] {
        Json names = Json::object();
        for (const auto& item : tensors_) names[item.first] = true;
        return names;
      }()) {}

const Tensor& Inputs::operator[](const std::string& name) const {
  static const Tensor none;
  return names_.has(name) ? tensors_.at(name) : none;
}

const Builds& builds() {
  static const Builds all = [] {
    Builds joined = layers();
    joined.insert(attentions().begin(), attentions().end());
    joined.insert(recurrents().begin(), recurrents().end());
    return joined;
  }();
  return all;
}

std::vector<std::string> nn_findings(const Cases& cases) {
  return findings(cases, [&](const Json& one) { return run(cases, one); });
}

}  // namespace heed::parity
