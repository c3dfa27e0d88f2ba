#include "nn/onnx/operator.h"

#include "tests/nn/onnx/one_node.h"
#include "tests/support/program.h"

namespace {

// Why a model is refused when it is loaded.
std::string refused_because(const onnx::Model& model) {
  return message([&] { OnnxModel graph(model); });
}
const Tensor kThree = tensor({1, 2, 3});

}  // namespace

TEST_CASE("onnx: what an operator does not declare is refused when a model is loaded") {
  using onnx::ElementType;
  const auto refused = [](const std::string& op, const std::vector<onnx::Attribute>& attributes,
                          const std::string& why, int inputs = 1, int outputs = 1) {
    const std::vector<Tensor> xs(static_cast<size_t>(inputs), kThree);
    const std::string text = refused_because(one_node(op, xs, attributes, outputs));
    CHECK_MESSAGE(contains(text, why), text);
    CHECK(contains(text, "node \"n\" (" + op + "): "));
  };
  CHECK(refused_because(one_node("LeakyRelu", {kThree}, {attribute("alpha", 0.5F)})) == "");
  refused("Warp", {}, "the operator is unknown");
  refused("Relu", {attribute("slope", 1.0F)}, "the attribute \"slope\" is unknown; known are \"\"");
  refused("LeakyRelu", {attribute("alpha", int64_t{1})}, "the attribute alpha has an unknown type or value");
  refused("LeakyRelu", {attribute("alpha", 0.5F), attribute("alpha", 0.5F)}, "is defined twice");
  refused("Gelu", {attribute("approximate", "sigmoid")}, "known is approximate=none|tanh");
  refused("Cast", {}, "the attribute to is missing");
  refused("Cast", {attribute("to", int64_t{10})}, "the result has the type 10 of ONNX");
  refused("Cast", {attribute("to", int64_t{1} << 32 | 1)}, "the result has the type 4294967297");
  refused("ConstantOfShape",
          {{.name = "value",
            .type = onnx::AttributeType::t,
            .t = {.type = ElementType::float16, .values = zeros({1})}}},
          "the attribute value has the type 10");
  refused("Add", {}, "the input B is missing", 1);
  refused("Add", {}, "3 inputs; known are \"A B\"", 3);
  refused("Add", {}, "2 outputs; known are 1", 2, 2);
  refused("Constant", {}, "it has no value", 0);
  refused("GRU", {}, "the attribute linear_before_reset has an unknown", 3);
  refused("GRU",
          {attribute("linear_before_reset", int64_t{1}),
           attribute("activations", std::vector<std::string>{"Sigmoid", "Relu"})},
          "the attribute activations has an unknown", 3);
  refused("AveragePool", {attribute("kernel_shape", {2}), attribute("dilations", {2})},
          "the attribute dilations has an unknown");
  refused("Conv", {attribute("kernel_shape", {2, 2, 2})},
          "the attribute kernel_shape has an unknown type or value; known is kernel_shape?=one_or_two", 2);

  onnx::Model model = one_node("Gelu", {kThree});
  model.opset_import[""] = 19;
  CHECK(contains(refused_because(model), "since opset 20, and the model has opset 19"));
  model = one_node("Relu", {kThree});
  model.graph.node[0].domain = "com.example";
  CHECK(contains(refused_because(model), "the domain \"com.example\" is unknown"));
}

TEST_CASE("onnx: every row has a well-formed declaration and a name in nn/onnx/README.md") {
  const std::string readme = read_file(HEED_SOURCE_DIR "/nn/onnx/README.md");
  for (const auto& [name, row] : onnx::operators()) {
    CAPTURE(name);
    onnx::Node node{.op_type = name};
    std::istringstream declared(row.arguments);
    for (std::string argument; declared >> argument;)
      if (argument.find('=') > argument.size()) node.input.push_back("x");
    const std::string text = message([&] { onnx::check_node(row, node, 28); });
    const bool needs_attribute = contains(text, " is missing") || contains(text, "linear_before_reset");
    CHECK_MESSAGE((text.empty() || needs_attribute), text);
    CHECK(contains(readme, "`" + name + "`"));
    CHECK(contains(message([&] { onnx::check_node(row, node, 0); }), "since opset"));
  }
  CHECK(onnx::operators().size() > 100);
}

TEST_CASE("onnx: arguments of a node are inputs by name, and attributes with the defaults of the row") {
  const auto arguments = [](const std::string& op, const std::vector<std::string>& inputs,
                            const std::vector<onnx::Attribute>& attributes) {
    return onnx::check_node(onnx::operators().at(op),
                            {.input = inputs, .op_type = op, .attribute = attributes}, 28);
  };
  const auto shape = arguments("Shape", {"x"}, {attribute("start", int64_t{2})});
  REQUIRE(shape.size() == 3);
  CHECK(shape[0].input == "x");
  CHECK(shape[1].value.item<int64_t>() == 2);
  CHECK(!shape[2].value.defined());
  const auto gelu = arguments("Gelu", {"x"}, {attribute("approximate", "tanh")});
  CHECK(gelu.at(1).value.item<int64_t>() == 1);
  const auto reduced = arguments("ReduceSum", {"x"}, {attribute("axes", {1, 2})});
  CHECK(reduced.at(2).value.to_vector<int64_t>() == std::vector<int64_t>{1, 2});
  CHECK(arguments("ReduceSum", {"x", "a"}, {}).at(1).input == "a");
  const auto joined = arguments("Concat", {"x", "y", "z"}, {attribute("axis", int64_t{1})});
  REQUIRE(joined.size() == 4);
  CHECK(joined[3].input == "z");
}
