#pragma once

#include "nn/onnx/import.h"
#include "tests/support/expect.h"

// Models of one node.

inline onnx::Attribute attribute(const std::string& name, int64_t i) {
  return {.name = name, .type = onnx::AttributeType::i, .i = i};
}
inline onnx::Attribute attribute(const std::string& name, float f) {
  return {.name = name, .type = onnx::AttributeType::f, .f = f};
}
inline onnx::Attribute attribute(const std::string& name, const char* s) {
  return {.name = name, .type = onnx::AttributeType::s, .s = s};
}
inline onnx::Attribute attribute(const std::string& name, std::initializer_list<int64_t> ints) {
  return {.name = name, .type = onnx::AttributeType::ints, .ints = ints};
}
inline onnx::Attribute attribute(const std::string& name, const std::vector<std::string>& strings) {
  return {.name = name, .type = onnx::AttributeType::strings, .strings = strings};
}
inline onnx::Attribute attribute(const std::string& name, const Tensor& t) {
  return {.name = name,
          .type = onnx::AttributeType::t,
          .t = {.type = onnx::element_type(t.dtype()), .values = t}};
}

// y0, y1, ... = op(x0, x1, ...); an undefined input is not given.
inline onnx::Model one_node(const std::string& op, const std::vector<Tensor>& inputs,
                            const std::vector<onnx::Attribute>& attributes = {}, int outputs = 1) {
  onnx::Model model{.ir_version = 10, .opset_import = {{"", 28}}};
  onnx::Node node{.name = "n", .op_type = op, .attribute = attributes};
  for (size_t i = 0; i < inputs.size(); ++i) {
    node.input.push_back(inputs[i].defined() ? "x" + std::to_string(i) : "");
    if (inputs[i].defined())
      model.graph.input.push_back({node.input.back(), onnx::element_type(inputs[i].dtype()), {}});
  }
  for (int i = 0; i < outputs; ++i) {
    node.output.push_back("y" + std::to_string(i));
    model.graph.output.push_back({node.output.back(), onnx::ElementType::float32, {}});
  }
  model.graph.node = {node};
  return model;
}
// The outputs of that model, written and read again.
inline std::vector<Tensor> run_node(const std::string& op, const std::vector<Tensor>& inputs,
                                    const std::vector<onnx::Attribute>& attributes = {}, int outputs = 1) {
  const OnnxModel graph(onnx::decode(onnx::encode(one_node(op, inputs, attributes, outputs))));
  std::vector<Tensor> given;
  for (const Tensor& x : inputs)
    if (x.defined()) given.push_back(x);
  return graph(given);
}
