#include "nn/view/rules.h"

#include <set>

#include "nn/view/tape.h"
#include "tests/autograd/op_checks.h"
#include "tests/support/expect.h"

using namespace heed;

TEST_CASE("gradient_rule: in the names of the operands; nothing of those that need no gradient") {
  CHECK(gradient_rule("mul", {{"w"}, {"x"}}, "y") == "dw = g x, dx = g w");
  CHECK(gradient_rule("mul", {{"w"}, {"x", false}}, "y") == "dw = g x");
  CHECK(gradient_rule("mul", {{"x"}, {"x"}}, "y") == "dx = g x, dx = g x");
  CHECK(gradient_rule("tanh", {{"#3"}}, "z") == "d#3 = g (1 − z²)");
  CHECK(gradient_rule("linear", {{"x", false}, {"W"}}, "y") == "dW = gᵀ x");
  CHECK(gradient_rule("rms_norm", {{"x"}, {"s"}}, "y").starts_with("z = x / rms, h = g s: dx = "));
  CHECK(gradient_rule("one of the user's", {{"x"}}, "y").empty());
}

TEST_CASE(
    "gradient_rule: each that there is belongs to an operation of the table, by the name that it records") {
  std::set<std::string> recorded = {"to"};  // which the table leaves to a test of its own
  for (const test::OpCase& row : test::op_cases()) {
    if (row.in_place) continue;
    Tape tape;
    std::vector<Tensor> inputs = test::inputs_of(row);
    for (const Tensor& y : row.call(inputs))
      if (y.requires_grad())
        backward({y}, {.grad_outputs = {ones_like(y).requires_grad_()}, .create_graph = true});
    for (const TapeNode& node : tape.nodes())
      if (!node.inputs.empty()) recorded.insert(node.operation);
  }
  for (const std::string& operation : detail::operations_with_rules())
    CHECK_MESSAGE(recorded.contains(operation), operation);
}
