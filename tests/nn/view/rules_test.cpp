#include "nn/view/rules.h"

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

TEST_CASE("gradient_rule: every operation of the table has one under each name that it records") {
  for (const test::OpCase& row : test::op_cases()) {
    if (row.in_place) continue;
    CAPTURE(test::name_of(row));
    Tape tape;
    std::vector<Tensor> inputs = test::inputs_of(row);
    row.call(inputs);
    for (const TapeNode& node : tape.nodes())
      if (!node.inputs.empty())
        CHECK_MESSAGE(!gradient_rule(node.operation, {{"x"}, {"w"}, {"b"}}, "y").empty(), node.operation);
  }
}
