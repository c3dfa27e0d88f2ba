#include "autograd/node.h"

#include "autograd/debug/graph.h"
#include "autograd/ops/activation.h"
#include "tests/support/compile.h"
#include "tests/support/expect.h"

TEST_CASE("record keeps only rules whose input needs a gradient") {
  const Tensor x = leaf(2), constant = tensor(3, float64);
  bool first = false, second = false;
  const auto token = std::make_shared<int>();
  const auto product = [&](const Tensor& a, const Tensor& b) {
    return record("product", fresh(a * b),
                  {{a,
                    [&first, token, b](const Tensor& g) {
                      first = true;
                      return g * b;
                    }},
                   {b, [&second, token, a](const Tensor& g) {
                      second = true;
                      return g * a;
                    }}});
  };
  CHECK_FALSE(product(constant, constant).requires_grad());
  unrecorded([&] { CHECK_FALSE(product(x, x).requires_grad()); });
  CHECK(token.use_count() == 1);
  {
    const Tensor y = product(x, constant);
    CHECK(token.use_count() == 2);  // the other rule is dropped at once
    y.backward(Tensor(), true);
    CHECK(values(x.grad()) == Values{3});
  }
  CHECK(token.use_count() == 1);
  CHECK(first);
  CHECK_FALSE(second);
}

TEST_CASE("a node knows its operation, shape, dtype, line and inputs") {
  const Tensor x = leaf({1, 2});
  const Tensor y = relu(x);
  const int line = __LINE__ - 1;
  const Node& node = *Node::of(y);
  CHECK(std::string(node.name) == "relu");
  CHECK(node.shape == Shape{2});
  CHECK(node.dtype == float64);
  CHECK(node.line.line() == line);
  CHECK(std::string(node.line.file_name()) == __FILE__);
  CHECK(node.input_count == 1);
  CHECK(node.inputs()[0].node.get() == Node::of(x));
  CHECK(Node::of(x)->is_leaf());
  CHECK_FALSE(node.is_leaf());
  CHECK(node.result.defined());
  CHECK_FALSE(node.result.requires_grad());        // it holds the result's values without its graph
  CHECK_FALSE(Node::of(x + 1)->result.defined());  // only if a rule reads them
  CHECK(at(node.line) == "at " __FILE__ ":" + std::to_string(line));
  CHECK(at({}) == "at an unknown line");
}

TEST_CASE("a result that is its own operand also has the operand's history") {
  const Tensor x = leaf(3), h = x * 2;
  const Tensor y = record("tripled", h, {{h, [](const Tensor& g) { return 3 * g; }}});
  const Tensor z = record(
      "joint", y, {y}, [](const Tensor& g, const Tensor&) { return Gradients{5 * g}; }, nullptr);
  z.backward();
  CHECK(x.grad().item() == 2 * 3 * 5);
}

TEST_CASE("an invalid rule of an edge is a compile error of one line") {
  const Texts errors = compile_errors(R"(
#include "autograd/node.h"
using namespace heed;
void f(const Tensor& x) {
  auto rule = [](const Tensor& g) { return g; };
  const auto constant = [](const Tensor& g) { return g; };
  const Operand a = x;
  Edge{a, rule};
  Edge{a, constant};
  Edge{a, []() { return Tensor(); }};
  Edge{a, [](const Tensor& g, const Tensor&, const Tensor&) { return g; }};
  Edge{a, std::move(rule)};
  Edge{a, [](const Tensor& g, const Tensor& y) { return y; }};
})");
  REQUIRE(errors.size() == 4);
  for (const size_t i : {0, 1})
    CHECK(contains(errors[i], "record moves the gradient rule of an Edge away: give a lambda written in "));
  for (const size_t i : {2, 3})
    CHECK(contains(errors[i], "the gradient rule of an Edge takes (const Tensor& g), or (const Tensor& g, "));
}

TEST_CASE("the gradient from a rule is summed to the input's shape, which must broadcast to it") {
  const Tensor x = leaf({{1}, {2}});  // [2, 1]
  const auto returning = [&](const Tensor& g) {
    return record("odd", ones({2, 3}, float64), {{x, [g](const Tensor&) { return g; }}});
  };
  sum(returning(ones({4, 2, 3}, float64))).backward();
  CHECK(values(x.grad()) == Values{12, 12});
  CHECK_ERROR(
      sum(returning(ones({2, 3}))).backward(),
      "odd: the rule gave float32 [2, 3] for an input that is float64 [2, 1]; in the gradient rule of odd");
  CHECK_ERROR_HAS(sum(returning(ones({3, 1}, float64))).backward(),
                  "odd: the gradient is [3, 1], the input is [2, 1]: they do not broadcast");
  CHECK_ERROR_HAS(sum(returning(ones({1}, float64))).backward(),
                  "gave float64 [1] for an input that is float64 [2, 1]");
}

TEST_CASE("reference mode runs the reference implementations") {
  const Tensor x = leaf({1, 2, 3});
  const Reference off(false);
  const Tensor fast = layer_norm(x, {3});
  const Reference on(true);
  const Tensor slow = layer_norm(x, {3});
  CHECK(std::string(Node::of(fast)->name) == "layer_norm");
  CHECK(graph_nodes(slow).size() > graph_nodes(fast).size());
  for (size_t i = 0; i < 3; ++i) CHECK(values(fast)[i] == doctest::Approx(values(slow)[i]));
}

TEST_CASE("operations inside a composed operation are recorded at its caller's line") {
  const Tensor x = leaf({1, 2});
  const auto twice = [](Operand v) {
    const OpScope scope("twice", v.line());
    return v * 2;
  };
  const auto outer = [&](Operand v) {
    const OpScope scope("outer", v.line());
    return twice(relu(v));
  };
  const Tensor y = outer(x);
  const int line = __LINE__ - 1;
  CHECK(Node::of(y)->line.line() == line);
  CHECK(Node::of(y)->inputs()[0].node->line.line() == line);
  CHECK(Node::of(x * 2)->line.line() == __LINE__);  // until the end of the scope
}
