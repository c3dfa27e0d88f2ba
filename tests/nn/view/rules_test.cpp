#include "nn/view/rules.h"

#include "nn/view/tape.h"
#include "tests/autograd/op_checks.h"
#include "tests/support/expect.h"

TEST_CASE("gradient_rule: uses the names of the inputs that need a gradient") {
  const Tensor w = ones({2, 2}).requires_grad_(), x = ones({2, 2}), b = ones({2}).requires_grad_();
  const auto rule = [](const Tensor& y, const Texts& names) {
    return gradient_rule(*Node::of(y), names, "y");
  };
  CHECK(rule(w * w, {"w", "w"}) == "dw = g w, dw = g w");
  CHECK(rule(w * x, {"w", "x"}) == "dw = g x");
  CHECK(rule(softmax(w, 0), {"#3"}) == "d#3 = y (g − Σ g y)");
  CHECK(rule(linear(x, w, b), {"x", "W", "b"}) == "dW = gᵀ x, db = Σ of g over the rows");
  CHECK(rule(cat({w, x, w}), {"a", "b", "c"}) == "each input gets its part of g");
  if (!reference_mode())  // which records the operations of a layer norm by themselves
    CHECK(rule(layer_norm(w, {2}, {}, b), {"x", "", "b"}) ==
          "z = (x − mean) / std, h = g: dx = (h − mean h − z mean(h z)) / std, db = Σ g");
  const Tensor of_user = record("double", x + x, {{w, [](const Tensor& g) { return g; }}});
  CHECK(rule(of_user, {"w"}).empty());
}

TEST_CASE("gradient_rule: every operation of heed has a text") {
  for (const test::OpCase& row : test::op_cases()) {
    if (row.in_place) continue;
    Tape tape;
    Tensors inputs = test::inputs_of(row);
    for (const Tensor& y : row.call(inputs))
      if (y.requires_grad())
        backward({y}, {.grad_outputs = {ones_like(y).requires_grad_()}, .create_graph = true});
    for (const TapeNode& node : tape.nodes())
      CHECK_MESSAGE((node.inputs.empty() || !node.rule.empty()), node.operation);
  }
}
