#include "nn/onnx/import.h"

#include "autograd/ops/norm.h"
#include "nn/files/file.h"
#include "nn/functional.h"
#include "nn/layers/activation.h"
#include "nn/layers/linear.h"
#include "nn/layers/sequential.h"
#include "nn/onnx/export.h"
#include "nn/optim/sgd.h"
#include "tests/nn/onnx/one_node.h"
#include "tests/nn/onnx/table_rows.h"
#include "tests/support/program.h"

namespace {

onnx::Constant graph_constant(const std::string& name, const Tensor& x) {
  return {name, onnx::element_type(x.dtype()), x};
}
onnx::ValueInfo value_info(const std::string& name, onnx::ElementType type = onnx::ElementType::float32,
                           std::optional<onnx::SymbolicShape> shape = {}) {
  return {name, type, shape};
}
onnx::Node graph_node(const std::string& op, const std::vector<std::string>& in,
                      const std::vector<std::string>& out,
                      const std::vector<onnx::Attribute>& attributes = {}) {
  return {.input = in, .output = out, .op_type = op, .attribute = attributes};
}
// sum = a w + n times 2, difference = a - b
onnx::Model two_outputs() {
  onnx::Model model{.ir_version = 10, .opset_import = {{"", 23}}};
  const onnx::Size batch{-1, "batch"}, three{3, ""};
  model.graph.initializer = {graph_constant("w", tensor({1, 2, 3})),
                             graph_constant("n", tensor({1, 1, 1}, int64)),
                             graph_constant("half", tensor(0.5))};
  model.graph.input = {value_info("a", onnx::ElementType::float32, onnx::SymbolicShape{{batch, three}}),
                       value_info("w"),
                       value_info("b", onnx::ElementType::float32, onnx::SymbolicShape{{batch, three}})};
  model.graph.node = {graph_node("Mul", {"a", "w"}, {"aw"}),
                      graph_node("Constant", {}, {"two"}, {attribute("value", tensor({2, 2, 2}))}),
                      graph_node("CastLike", {"n", "aw"}, {"m"}),
                      graph_node("Mul", {"m", "two"}, {"m2"}),
                      graph_node("Add", {"aw", "m2"}, {"sum"}),
                      graph_node("Sub", {"a", "b"}, {"difference"})};
  model.graph.output = {value_info("sum"), value_info("difference")};
  return model;
}
std::string graph_refusal(const onnx::Model& model) {
  return message([&] { OnnxModel graph(model); });
}

}  // namespace

TEST_CASE("onnx: a model is exported, imported, and trained on to the same numbers") {
  manual_seed(1);
  const Folder folder;
  Sequential model{Linear(3, 8), Tanh(), Linear(8, 2)};
  const Tensor x = randn({5, 3}), target = randn({5, 2});
  save_onnx(folder / "model.onnx", model, x);
  OnnxModel graph = load_onnx(folder / "model.onnx");
  CHECK(largest_difference(graph(x), model(x)) < 1e-6);
  CHECK(graph.inputs().at(0).name == "x");
  CHECK(graph.outputs().at(0).name == "y");
  for (const auto& [name, tensor] : graph.state_dict()) CHECK(model.state_dict().contains(name));
  CHECK(graph.parameter_count() == model.parameter_count());

  SGD of_graph(graph.parameters(), {.lr = 0.1}), of_model(model.parameters(), {.lr = 0.1});
  for (int step = 0; step < 3; ++step) {
    of_graph.zero_grad(), of_model.zero_grad();
    F::mse_loss(graph(x), target).backward(), F::mse_loss(model(x), target).backward();
    of_graph.step(), of_model.step();
  }
  CHECK(largest_difference(graph(x), model(x)) < 1e-6);

  OnnxModel copy = graph;
  copy.load_state_dict(graph.state_dict());
  CHECK(largest_difference(copy(x), graph(x)) == 0);
  const NoGrad guard;
  zero_(copy.parameters()[0]);
  CHECK(largest_difference(copy(x), graph(x)) > 0);
}

TEST_CASE("onnx: what is exported of the operators' table is imported and gives the same numbers") {
  const Folder folder;
  const std::string path = folder / "row.onnx";
  const Sequential none;
  int64_t compared = 0;
  each_table_row([&](const test::OpCase& row, const OnnxTensors& x, const auto& forward) {
    for (const int64_t opset : {20, 23}) {
      // Operations without a form in ONNX are tested in export_test.cpp.
      if (!message([&] { save_onnx(path, none, x, forward, {.opset = opset}); }).empty()) continue;
      CAPTURE(std::string(row.op));
      CAPTURE(opset);
      const std::string error = message([&] {
        const OnnxModel graph = load_onnx(path);
        StateDict inputs;
        for (const onnx::ValueInfo& input : graph.inputs())
          inputs[input.name] = x[input.name == "x" ? 0 : std::stoul(input.name.substr(1))];
        const NoGrad guard;
        const OnnxTensors expected = forward(x);
        const StateDict outputs = graph(inputs);
        REQUIRE(outputs.size() == expected.size());
        for (size_t i = 0; i < expected.size(); ++i) {
          const Tensor& y = outputs.at(graph.outputs()[i].name);
          CHECK(y.dtype() == expected[i].dtype());
          REQUIRE(y.shape() == expected[i].shape());
          CHECK(allclose(to(y, float64), to(expected[i], float64), 1e-5, 1e-5, true));
        }
      });
      CHECK_MESSAGE(error.empty(), error);
      ++compared;
    }
  });
  CHECK(compared > 200);
}

TEST_CASE("onnx: several inputs and outputs, by order and by name") {
  const OnnxModel graph(two_outputs());
  const Tensor a = tensor({{1, 1, 1}, {2, 2, 2}}), b = tensor({{0, 1, 0}, {1, 0, 1}});
  const Tensor sum = tensor({{3, 4, 5}, {4, 6, 8}}), difference = a - b;
  CHECK(largest_difference(graph(a, b), sum) == 0);
  const std::vector<Tensor> all = graph(std::vector<Tensor>{a, b});
  REQUIRE(all.size() == 2);
  CHECK(largest_difference(all[1], difference) == 0);
  const StateDict named = graph(StateDict{{"b", b}, {"a", a}});
  CHECK(largest_difference(named.at("sum"), sum) == 0);
  CHECK(largest_difference(named.at("difference"), difference) == 0);

  const auto error = [&](const auto& inputs) { return message([&] { graph(inputs); }); };
  using List = std::vector<Tensor>;
  CHECK(contains(error(List{a}), "1 inputs; the model has 2"));
  CHECK(contains(error(List{a, to(b, int64)}), "the input \"b\" is int64; it must be float32"));
  CHECK(contains(error(List{a, narrow(b, 1, 0, 2)}), "\"b\" is [2, 2]; the size 1 must be 3"));
  CHECK(contains(error(List{a, narrow(b, 0, 0, 1)}), "\"b\" is [1, 3]; the size 0 must be 2"));
  CHECK(contains(error(List{a[0], b}), "\"a\" is [3]; it must have 2 dimensions"));
  CHECK(contains(error(StateDict{{"a", a}}), "the input \"b\" is missing"));
  CHECK(contains(error(StateDict{{"a", a}, {"b", b}, {"c", b}}), "3 inputs"));
  CHECK_THROWS_AS(graph(List{Tensor(), b}), Error);
}

TEST_CASE("onnx: floating initializers are parameters, others are buffers, and all are converted") {
  OnnxModel graph(two_outputs());
  REQUIRE(graph.named_parameters().size() == 1);
  CHECK(graph.named_parameters()[0].name == "w");
  CHECK(graph.state_dict().size() == 3);  // w, n and half, but no value of a node
  graph.to(float64);
  const Tensor a = ones({1, 3}, float64).requires_grad_();
  const Tensor y = graph(a, a);
  CHECK(y.dtype() == float64);
  sum(y).backward();
  CHECK(largest_difference(a.grad(), tensor({{1, 2, 3}}, float64)) == 0);
  CHECK(largest_difference(graph.parameters()[0].grad(), ones({3}, float64)) == 0);

  onnx::Model norm{.ir_version = 10, .opset_import = {{"", 20}}};
  for (const char* name : {"scale", "bias", "mean", "var"})
    norm.graph.initializer.push_back(graph_constant(name, ones({2})));
  norm.graph.input = {value_info("x")}, norm.graph.output = {value_info("y")};
  norm.graph.node = {graph_node("BatchNormalization", {"x", "scale", "bias", "mean", "var"}, {"y", "", ""})};
  const OnnxModel with_norm(norm);
  CHECK(with_norm.named_parameters().size() == 2);
  const Tensor x = counted({3, 2});
  CHECK(largest_difference(with_norm(x), batch_norm(x, ones({2}), ones({2}), ones({2}), ones({2}))) < 1e-6);
}

TEST_CASE("onnx: malformed graphs are refused") {
  const auto changed = [](const auto& change) {
    onnx::Model model = two_outputs();
    change(model, model.graph);
    return graph_refusal(model);
  };
  CHECK(changed([](auto&, auto&) {}).empty());
  const auto refused = [&](const std::string& why, const auto& change) {
    const std::string text = changed(change);
    CHECK_MESSAGE(contains(text, why), text);
  };
  refused("the value \"aw\" is defined twice", [](auto&, auto& g) { g.node[1].output = {"aw"}; });
  refused("the value \"b\" is defined twice", [](auto&, auto& g) { g.input.push_back(value_info("b")); });
  refused("the input \"sum\" is not defined before the node",
          [](auto&, auto& g) { g.node[0].input[0] = "sum"; });
  refused("the output \"z\" is not defined", [](auto&, auto& g) { g.output[0].name = "z"; });
  refused("the model has no outputs", [](auto&, auto& g) { g.output.clear(); });
  refused("an input has no name", [](auto&, auto& g) { g.input[0].name = ""; });
  refused("a constant has no name", [](auto&, auto& g) { g.initializer[2].name = ""; });
  refused("the input \"a\" has the type 10",
          [](auto&, auto& g) { g.input[0].type = onnx::ElementType::float16; });
  refused("the output \"sum\" has the type 2",
          [](auto&, auto& g) { g.output[0].type = onnx::ElementType::uint8; });
  refused("the constant \"half\" has the type 16",
          [](auto&, auto& g) { g.initializer[2].type = onnx::ElementType::bfloat16; });
  refused("the model has sparse initializers", [](auto&, auto& g) { g.sparse_initializer = {""}; });
  refused("the model has the function \"f\"", [](auto& m, auto&) { m.functions = {{.name = "f"}}; });
  refused("the model has opset 0; known are 1 to 28", [](auto& m, auto&) {
    m.opset_import = {{"ai.onnx.ml", 3}};
  });
  refused("the model has opset 29", [](auto& m, auto&) { m.opset_import[""] = 29; });
  refused("node \"\" (If): the operator is unknown", [](auto&, auto& g) { g.node[0].op_type = "If"; });

  const Folder folder;
  write_file(folder / "model.onnx", "\x08");
  const std::string text = message([&] { load_onnx(folder / "model.onnx"); });
  CHECK(contains(text, "load_onnx: " + (folder / "model.onnx") + ": "));
  CHECK(contains(text, "byte 1"));
  CHECK(contains(message([&] { load_onnx(folder / "none.onnx"); }), "none.onnx"));
}
