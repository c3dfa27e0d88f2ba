#include "autograd/debug/graph.h"

#include "autograd/ops/activation.h"
#include "nn/layers/linear.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"

namespace {

struct Block : Layer<Block> {
  Tensor forward(const Tensor& x) const { return relu(first(x)); }
  void visit(Visitor& v) override { v("first", first); }
  Linear first{3, 2};
};

struct Model : Layer<Model> {
  Tensor forward(const Tensor& x) const { return block(x); }
  void visit(Visitor& v) override { v("block", block); }
  Block block;
};

}  // namespace

TEST_CASE("graph_text: numbers, operations, shapes, inputs and lines") {
  const Tensor x = ones({2, 1}, float64).requires_grad_(), c = ones({3}, float64);
  const Tensor h = x * c;
  const int first = __LINE__ - 1;
  const Tensor y = sum(h + h, {0});
  const int second = __LINE__ - 1;
  CHECK(graph_text(y) ==
        "0  leaf [2, 1] float64\n"
        "1  mul [2, 3] float64  <- 0, -  at " +
            place(first) + "\n" + "2  add [2, 3] float64  <- 1, 1  at " + place(second) + "\n" +
            "3  sum [3] float64  <- 2  at " + place(second) + "\n");
  CHECK(graph_text(c).empty());
  CHECK(graph_text(x) == "0  leaf [2, 1] float64\n");
}

TEST_CASE("graph_dot writes the DOT language of Graphviz") {
  const Tensor x = ones({2}).requires_grad_();
  const Tensor y = relu(x);
  const int line = __LINE__ - 1;
  CHECK(graph_dot(y) ==
        "digraph heed {\n"
        "  node [shape=box, fontname=\"sans-serif\"];\n"
        "  n0 [label=\"leaf\\n[2] float32\", style=filled, fillcolor=lightgrey];\n"
        "  n1 [label=\"relu\\n[2] float32\\n" +
            place(line) +
            "\"];\n"
            "  n0 -> n1;\n"
            "}\n");
  const auto quoted = function(
      "say \"\\o/\"", [](const Tensor& v) { return v * 1; },
      [](const Tensor& g, const Tensor&) { return g; });
  CHECK(contains(graph_dot(quoted(x)), "label=\"say \\\"\\\\o/\\\"\\n[2]"));

  // If Graphviz is installed, it must be able to read the graph.
  const Folder folder;
  const std::string file = folder.write("graph.dot", graph_dot(quoted(y)));
  if (run_shell("command -v dot").code == 0) CHECK(run_shell("dot -Tsvg '" + file + "'").code == 0);
}

TEST_CASE("graphs show the paths of modules and the lines of operations") {
  const Model model;
  const Tensor y = model(ones({4, 3}));
  const std::string text = graph_text(y), dot = graph_dot(y);
  CHECK(contains(text, "linear [4, 2] float32  <- -, 0, 1  in block.first  at " __FILE__));
  CHECK(contains(text, "relu [4, 2] float32  <- 2  in block  at " __FILE__));
  CHECK(contains(dot, "linear\\n[4, 2] float32\\nblock.first\\n" __FILE__));
  CHECK(std::string(Node::of(relu(y))->module).empty());
}

TEST_CASE("graph_nodes: each node once, inputs first, in deep and in shared graphs") {
  const Tensor x = ones({}).requires_grad_(), w = ones({}).requires_grad_();
  Tensor y = x;
  for (int i = 0; i < 40; ++i) y = y * y + w;
  const std::vector<const Node*> nodes = graph_nodes(y);
  CHECK(nodes.size() == 82);
  const auto number = [&](const Node* node) { return std::find(nodes.begin(), nodes.end(), node); };
  for (auto node = nodes.begin(); node != nodes.end(); ++node)
    for (int32_t i = 0; i < (*node)->input_count; ++i) CHECK(number((*node)->inputs()[i].node.get()) < node);
  CHECK(nodes.back() == Node::of(y));

  const std::vector<const Node*> leaves = graph_leaves(y);
  CHECK(leaves.size() == 2);
  CHECK(std::find(leaves.begin(), leaves.end(), Node::of(x)) != leaves.end());
  CHECK(std::find(leaves.begin(), leaves.end(), Node::of(w)) != leaves.end());
  CHECK(graph_nodes(x.detach()).empty());
  CHECK(graph_text(y.detach()).empty());

  Tensor deep = x;
  for (int i = 0; i < 100000; ++i) deep = deep + x;
  CHECK(graph_nodes(deep).size() == 100001);
}
