#include "examples/playground/tape.h"

#include "examples/playground/message.h"
#include "tests/support/expect.h"

using namespace program;

namespace {

struct GraphNode {
  std::string label, operation, rule;
  Values value, gradient;
  std::vector<size_t> inputs;
};
struct BackwardStep {
  std::string node;
  Texts receivers;
  std::vector<bool> summed;
};
struct Graph {
  std::vector<GraphNode> nodes;
  std::string result;
  std::vector<BackwardStep> steps;
  std::map<std::string, Values> differences;

  const GraphNode& at(const std::string& label) const {
    return *std::ranges::find(nodes, label, &GraphNode::label);
  }
};

// An answer, read as its layout says.
Graph read(const std::vector<float>& answer) {
  RequestReader in("answer", answer);
  const auto count = [&] { return static_cast<size_t>(in.integer("count", 0, 1000)); };
  const auto numbers = [&] {
    const size_t size = count();
    return values(in.numbers("value", std::max<int64_t>(1, static_cast<int64_t>(size))));
  };
  Graph graph;
  graph.nodes.resize(count());
  for (GraphNode& node : graph.nodes) {
    node = {in.text("label"), in.text("operation"), in.text("rule"), numbers(), numbers(), {}};
    node.inputs.resize(count());
    for (size_t& input : node.inputs) input = count();
  }
  graph.result = graph.nodes[count()].label;
  graph.steps.resize(count());
  for (BackwardStep& step : graph.steps) {
    step.node = graph.nodes[count()].label;
    for (size_t left = count(); left > 0; --left) {
      step.receivers.push_back(graph.nodes[count()].label);
      step.summed.push_back(count() == 1);
      numbers();
    }
  }
  for (size_t left = count(); left > 0; --left) {
    const size_t node = count();
    graph.differences[graph.nodes[node].label] = numbers();
  }
  in.end();
  return graph;
}

Graph graph_of(const std::string& text) {
  std::vector<float> request;
  append(request, text);
  append(request, 0);
  return read(tape(request));
}

}  // namespace

TEST_CASE("playground tape: nodes, gradients and the order of y = tanh(w * x + b)") {
  const Graph graph = read(tape(tape_first()));
  CHECK(graph.result == "y");
  const double y = std::tanh(0.75), slope = 1 - y * y;
  CHECK(graph.at("y").value[0] == doctest::Approx(y));
  CHECK(graph.at("y").gradient[0] == 1);
  CHECK(graph.at("w").gradient[0] == doctest::Approx(2 * slope));
  CHECK(graph.at("x").gradient[0] == doctest::Approx(0.5 * slope));
  CHECK(graph.at("b").operation == "leaf");
  CHECK(graph.at("y").operation == "tanh");
  REQUIRE(graph.steps.size() == 3);
  CHECK(graph.steps[0].node == "y");
  CHECK(graph.steps[1].receivers.back() == "b");
  CHECK(graph.steps[2].receivers == Texts{"w", "x"});
  CHECK(contains(graph.nodes[2].rule, "dw = g x"));
}

TEST_CASE("playground tape: differences agree with gradients, also for lists and for a value used twice") {
  for (const char* text : {"x * x + sin(x)", "x = [1, 2, 3]; b = 0.5; sum(tanh(x * w + b))",
                           "q = 1; k = [1, 0, -1]; v = [3, 1, 2]; a = softmax(q * k); y = sum(a * v)",
                           "a ^ b / exp(-c) + mean([1, 2] * log(a)) - sqrt(sigmoid(c))"}) {
    CAPTURE(text);
    const Graph graph = graph_of(text);
    CHECK(!graph.differences.empty());
    for (const auto& [leaf, slopes] : graph.differences)
      CHECK(largest_difference(slopes, graph.at(leaf).gradient) < 1e-6);
  }
  const Graph graph = graph_of("b = 0.5; sum([1, 2, 3] + b)");
  CHECK(graph.steps.back().receivers == Texts{"b"});
  CHECK(graph.steps.back().summed == std::vector<bool>{true});
}

TEST_CASE("playground tape: a step runs after those of all users of its node") {
  const Graph graph = graph_of("h = tanh(x); y = h * h + h * exp(h)");
  std::map<std::string, size_t> place;
  for (size_t i = 0; i < graph.steps.size(); ++i) place[graph.steps[i].node] = i;
  for (size_t i = 0; i < graph.steps.size(); ++i)
    for (const std::string& receiver : graph.steps[i].receivers)
      if (place.contains(receiver)) CHECK(place[receiver] > i);
}

TEST_CASE("playground tape: errors") {
  CHECK_THROWS_WITH(graph_of("1 + 2"), "nothing here has a gradient; use a name, such as x");
  CHECK_THROWS_WITH(graph_of("x"), "a leaf alone has no graph; compute with it, such as 2 * x");
  std::string many = "x";
  for (int i = 0; i < 300; ++i) many += "+x";
  CHECK_THROWS_WITH(graph_of(many), doctest::Contains("200 are the limit"));
  std::vector<float> request;
  append(request, std::string("x"));
  append(request, 1);
  append(request, std::string("z"));
  append(request, 0);
  append(request, 1);
  CHECK_THROWS_WITH(tape(request), "the formula has no leaf z");
}
