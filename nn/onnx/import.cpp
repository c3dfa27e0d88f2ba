#include "nn/onnx/import.h"

#include <set>

#include "nn/files/file.h"
#include "nn/onnx/operator.h"
#include "tensor/utf8.h"

namespace heed {
namespace {

// The newest version of the operators that the tables were compared with, in PyPI's onnx 1.23.2.
constexpr int64_t kNewestOpset = 28;

std::string quoted(const std::string& name) { return "\"" + printable(name) + "\""; }

// Calls f. The message of an Error begins with `where`.
auto with_context(const std::string& where, const auto& f) {
  try {
    return f();
  } catch (const Error& error) {
    Error::Parts parts = error.parts();
    parts.message = where + parts.message;
    throw Error(std::move(parts));
  }
}

// Throws for other types than the known ones.
DType check_info(const char* kind, const onnx::ValueInfo& info) {
  return onnx::check_type(static_cast<int64_t>(info.type), "the " + (kind + (" " + quoted(info.name))));
}
// Throws unless x has the kind of dtype and the sizes that the file declares. `named` are the sizes with
// names.
void check_input(const onnx::ValueInfo& input, const Tensor& x, std::map<std::string, int64_t>& named) {
  const std::string what = "the input " + quoted(input.name);
  const DType dtype = check_info("input", input);
  check(x.dtype() == dtype || (is_floating(x.dtype()) && is_floating(dtype)), what, " is ", x.dtype(),
        "; it must be ", dtype);
  if (!input.shape) return;
  check(x.dim() == std::ssize(*input.shape), what, " is ", x.shape(), "; it must have ", input.shape->size(),
        " dimensions");
  for (int64_t d = 0; d < x.dim(); ++d) {
    const auto& [value, name] = (*input.shape)[static_cast<size_t>(d)];
    const int64_t size = name.empty() ? value : named.emplace(name, x.size(d)).first->second;
    check(size < 0 || size == x.size(d), what, " is ", x.shape(), "; the size ", d, " must be ", size);
  }
}

}  // namespace

// The number of a new value; -1 for "".
int64_t OnnxModel::define(const std::string& name) {
  if (name.empty()) return -1;
  check(numbers_.emplace(name, std::ssize(uses_)).second, "the value ", quoted(name), " is defined twice");
  uses_.push_back(0);
  return numbers_[name];
}

void OnnxModel::add_constant(const onnx::Constant& constant, bool learned, bool persistent) {
  onnx::check_type(static_cast<int64_t>(constant.type), "the constant " + quoted(constant.name));
  check(!constant.name.empty(), "a constant has no name");
  const Tensor& x = constant.values;
  learned = learned && is_floating(x.dtype()) && x.dim() > 0;
  owned_.push_back(
      {constant.name, define(constant.name), persistent, learned ? x : Tensor(), learned ? Tensor() : x});
}

void OnnxModel::add_step(const onnx::Node& node, int64_t opset) {
  const std::string where = "node " + quoted(node.name) + " (" + printable(node.op_type) + "): ";
  with_context(where, [&] {
    check(node.domain.empty() || node.domain == "ai.onnx", "the domain ", quoted(node.domain), " is unknown");
    const auto found = onnx::operators().find(node.op_type);
    check(found != onnx::operators().end(), "the operator is unknown; see nn/onnx/README.md");
    Step step{where, &found->second, {}, {}};
    for (const auto& [input, attribute] : onnx::check_node(found->second, node, opset)) {
      const bool is_input = !input.empty();
      check(!is_input || numbers_.contains(input), "the input ", quoted(input),
            " is not defined before the node");
      step.arguments.emplace_back(is_input ? numbers_[input] : -1, attribute);
      if (is_input) ++uses_[static_cast<size_t>(numbers_[input])];
    }
    if (node.op_type == "Cast") onnx::check_type(step.arguments[1].second.item<int64_t>(), "the result");
    if (node.op_type == "Constant" && !node.output.empty()) {
      const Tensor value =
          step.op->run({detail::mapped(step.arguments, &std::pair<int64_t, Tensor>::second), 1})[0];
      return add_constant({node.output[0], onnx::element_type(value.dtype()), value}, false, false);
    }
    for (const std::string& name : node.output) step.outputs.push_back(define(name));
    while (!step.outputs.empty() && step.outputs.back() < 0) step.outputs.pop_back();
    if (!step.outputs.empty()) steps_.push_back(std::move(step));
  });
}

OnnxModel::OnnxModel(onnx::Model model) {
  const int64_t opset =
      model.opset_import.contains("") ? model.opset_import[""] : model.opset_import["ai.onnx"];
  check(opset > 0 && opset <= kNewestOpset, "the model has opset ", opset, "; known are 1 to ", kNewestOpset);
  for (const onnx::Function& function : model.functions)
    fail("the model has the function ", quoted(function.name), "; export it with its functions inlined");
  check(model.graph.sparse_initializer.empty(), "the model has sparse initializers, which are unknown");

  std::set<std::string> statistics;
  for (const onnx::Node& node : model.graph.node)
    if (node.op_type == "BatchNormalization" && node.input.size() == 5)
      statistics.insert({node.input[3], node.input[4]});
  for (const onnx::Constant& constant : model.graph.initializer)
    add_constant(constant, !statistics.contains(constant.name), true);
  const std::map<std::string, int64_t> initializers = numbers_;
  for (const onnx::ValueInfo& input : model.graph.input) {
    if (initializers.contains(input.name)) continue;
    check_info("input", input);
    check(define(input.name) >= 0, "an input has no name");
    inputs_.push_back(input);
  }
  for (const onnx::Node& node : model.graph.node) add_step(node, opset);
  for (const onnx::ValueInfo& output : model.graph.output) {
    check(numbers_.contains(output.name), "the output ", quoted(output.name), " is not defined");
    check_info("output", output);
    ++uses_[static_cast<size_t>(numbers_[output.name])];
  }
  outputs_ = std::move(model.graph.output);
  check(!outputs_.empty(), "the model has no outputs");
}

void OnnxModel::visit(Visitor& v) {
  for (Owned& owned : owned_) v(owned.name, owned.parameter), v(owned.name, owned.buffer, owned.persistent);
}

std::vector<Tensor> OnnxModel::forward(const std::vector<Tensor>& inputs) const {
  check(inputs.size() == inputs_.size(), inputs.size(), " inputs; the model has ", inputs_.size());
  std::vector<Tensor> values(uses_.size());
  const auto at = [](auto& list, int64_t i) -> auto& { return list[static_cast<size_t>(i)]; };
  for (const Owned& owned : owned_)
    at(values, owned.value) = owned.buffer.defined() ? Tensor(owned.buffer) : Tensor(owned.parameter);
  std::map<std::string, int64_t> sizes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    check_input(inputs_[i], inputs[i], sizes);
    at(values, numbers_.at(inputs_[i].name)) = inputs[i];
  }
  std::vector<int64_t> uses = uses_;  // to come
  for (const Step& step : steps_)
    with_context(step.where, [&] {
      std::vector<Tensor> arguments;
      for (const auto& [number, attribute] : step.arguments) {
        arguments.push_back(number < 0 ? attribute : at(values, number));
        if (number >= 0 && --at(uses, number) == 0) at(values, number) = Tensor();
      }
      const std::vector<Tensor> results = step.op->run({arguments, std::ssize(step.outputs)});
      check(step.op->outputs >= 0 || results.size() == step.outputs.size(), "it has ", results.size(),
            " results for ", step.outputs.size(), " outputs");
      for (size_t i = 0; i < step.outputs.size(); ++i)
        if (step.outputs[i] >= 0 && at(uses, step.outputs[i]) > 0) at(values, step.outputs[i]) = results[i];
    });
  return detail::mapped(outputs_, [&](const auto& output) { return at(values, numbers_.at(output.name)); });
}

StateDict OnnxModel::forward(const StateDict& inputs) const {
  std::vector<Tensor> in_order;
  for (const onnx::ValueInfo& input : inputs_) {
    check(inputs.contains(input.name), "the input ", quoted(input.name), " is missing");
    in_order.push_back(inputs.at(input.name));
  }
  in_order.resize(inputs.size());  // others, which throw
  const std::vector<Tensor> results = forward(in_order);
  StateDict outputs;
  for (size_t i = 0; i < results.size(); ++i) outputs[outputs_[i].name] = results[i];
  return outputs;
}

OnnxModel load_onnx(const std::string& path) {
  FileReader file("load_onnx", path);
  const std::string bytes = file.read(file.left(), "the model");
  return with_context("load_onnx: " + path + ": ",
                      [&] { return OnnxModel(onnx::decode(bytes, "malformed")); });
}

}  // namespace heed
