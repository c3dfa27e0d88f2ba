// Any file is a model or throws. A model that is written again and read has the same bytes.

#include "nn/onnx/model.h"
#include "tensor/create.h"
#include "tests/faults/fuzz/fuzz.h"

using namespace heed;

void seeds(const std::function<void(std::string_view)>& add) {
  for (const DType dtype : {float32, float64, int64, boolean}) {
    onnx::Model model{.ir_version = 10, .producer_name = "heed", .opset_import = {{"", 23}}};
    model.metadata_props["key"] = "text";
    onnx::Node node{.input = {"x", "", "w"}, .output = {"y"}, .op_type = "If"};
    const onnx::Graph body{.name = "body", .node = {node}};
    node.attribute = {
        {.name = "i", .type = onnx::AttributeType::i, .i = -1},
        {.name = "floats", .type = onnx::AttributeType::floats, .floats = {1, 2}},
        {.name = "t", .type = onnx::AttributeType::t, .t = {.values = ones({2}, dtype)}},
        {.name = "g", .type = onnx::AttributeType::g, .g = std::make_shared<onnx::Graph>(body)}};
    model.graph.node = {node};
    model.graph.initializer = {{.name = "w", .values = ones({2, 3}, dtype)}};
    model.graph.input = {
        {"x", onnx::element_type(dtype), onnx::SymbolicShape{{{.value = 2}, {.name = "T"}}}}};
    model.functions = {{.name = "f", .node = {node}, .opset_import = {{"", 23}}}};
    add(onnx::encode(model));
  }
}

void run(std::string_view bytes) {
  const std::string written = onnx::encode(onnx::decode(bytes));
  expect(onnx::encode(onnx::decode(written)) == written, "written and read, it differs");
}
