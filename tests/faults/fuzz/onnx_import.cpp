// Any file is loaded as a model or throws.

#include "nn/onnx/import.h"

#include "nn/files/file.h"
#include "tensor/create.h"
#include "tests/faults/fuzz/fuzz.h"

using namespace heed;

// A model with an initializer, a constant, attributes of all types, and an input with open sizes.
static onnx::Model model() {
  onnx::Model model{.ir_version = 10, .producer_name = "heed", .opset_import = {{"", 23}}};
  onnx::Graph& graph = model.graph;
  graph.initializer = {{"w", onnx::ElementType::float32, zeros({2, 2})},
                       {"n", onnx::ElementType::int64, zeros({2}, int64)}};
  graph.input = {{"x", onnx::ElementType::float32, onnx::SymbolicShape{{{-1, "batch"}, {2, ""}}}}};
  graph.output = {{"y", onnx::ElementType::float32, {}}};
  onnx::Attribute value{.name = "value", .type = onnx::AttributeType::t};
  value.t = {"", onnx::ElementType::float32, ones({2})};
  graph.node = {
      {.output = {"c"}, .op_type = "Constant", .attribute = {value}},
      {.input = {"x", "w", "c"},
       .output = {"g"},
       .name = "gemm",
       .op_type = "Gemm",
       .attribute = {{.name = "alpha", .type = onnx::AttributeType::f, .f = 0.5F},
                     {.name = "transB", .type = onnx::AttributeType::i, .i = 1}}},
      {.input = {"g"},
       .output = {"t"},
       .op_type = "Transpose",
       .attribute = {{.name = "perm", .type = onnx::AttributeType::ints, .ints = {1, 0}}}},
      {.input = {"t"},
       .output = {"y"},
       .op_type = "Gelu",
       .attribute = {{.name = "approximate", .type = onnx::AttributeType::s, .s = "tanh"}}},
      {.input = {"x", "w", "w", "", "n"},
       .output = {"", "h"},
       .op_type = "RNN",
       .attribute = {{.name = "activations", .type = onnx::AttributeType::strings, .strings = {"Relu"}}}}};
  return model;
}

void seeds(const std::function<void(std::string_view)>& add) { add(onnx::encode(model())); }

void run(std::string_view bytes) {
  OnnxModel graph = load_onnx(MemoryFile(bytes).path());
  for (const auto& [name, x] : graph.state_dict()) expect(x.defined(), "a value is undefined");
  expect(!graph.outputs().empty(), "a model has no outputs");
}
