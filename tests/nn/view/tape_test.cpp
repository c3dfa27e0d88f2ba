#include "nn/view/tape.h"

#include <thread>

#include "heed.h"
#include "tests/autograd/op_checks.h"
#include "tests/support/expect.h"

// Removes the lines of this file, which change.
static std::string without_lines(std::string text) {
  for (size_t at = 0; (at = text.find("    at tape_test.cpp:", at)) != std::string::npos;)
    text.erase(at, text.find('\n', at) - at);
  return text;
}

// covers: C-100-08
TEST_CASE("Tape: values forward; gradients, rules and contributions backward") {
  Tape tape;
  const Tensor x = tensor(3, float64).requires_grad_();
  const Tensor a = x * x;
  const Tensor b = a * 2;
  const Tensor y = a * b;
  y.backward();
  tape.name("x", x);
  tape.name("a", a);
  tape.name("y", y);
  CHECK(without_lines(tape_text(tape)) ==
        "forward: the operations in order\n"
        "x = 3    leaf\n"
        "a = mul(x, x) = 9\n"
        "#4 = mul(a, 2) = 18\n"
        "y = mul(a, #4) = 162\n"
        "backward: the rule of each operation, after those of all its users\n"
        "y: g = 1    mul: da = g #4, d#4 = g a\n"
        "    a gets 18\n"
        "    #4 gets 9\n"
        "#4: g = 9    mul: da = g 2\n"
        "    a gets 18, sum 36\n"
        "a: g = 36    mul: dx = g x, dx = g x\n"
        "    x gets 108\n"
        "    x gets 108, sum 216\n");
  CHECK(contains(tape_text(tape, 1), "    at tape_test.cpp:"));
  CHECK(contains(tape.nodes()[1].line.file_name(), "tape_test.cpp"));
  CHECK_ERROR(tape_text(tape, 7), "tape_text: step 7 of 7; they count from 0");
  CHECK_ERROR(tape.label(5), "Tape::label: node 5 of 5; they count from 0");
}

TEST_CASE("Tape: matrices, broadcast operands, constants, older tensors, names of parameters") {
  const Tensor before = sin(tensor({1, 2}).requires_grad_());
  const Linear linear(2, 1);
  Tape tape;
  tape.name("layer", linear);
  const Tensor data = ones({2, 2});
  tape.name("data", data);
  const Tensor sums = data * before;
  linear(sums).backward(ones({2, 1}));
  const std::string text = tape_text(tape);
  CHECK(contains(text, "layer.weight = [["));
  CHECK(contains(text, "layer.bias = ["));
  CHECK(contains(text, "data = [[1, 1], [1, 1]]    constant\n"));
  CHECK(contains(text, " = mul(data, #4) = [["));
  CHECK(contains(text, ", summed over broadcast dimensions\n"));
  REQUIRE(tape.steps().size() > 2);
  CHECK(tape.steps().back().contributions.empty());  // of the sine: its operand is not on the tape
  REQUIRE_FALSE(tape.steps()[tape.steps().size() - 2].contributions.empty());
  const auto& last = tape.steps()[tape.steps().size() - 2].contributions.back();
  CHECK(last.gradient.shape() == before.shape());
  CHECK(last.summed);
  CHECK(tape.nodes()[last.to].operation == "sin");
  CHECK(tape.nodes()[last.to].inputs.empty());
}

TEST_CASE("Tape: small tensors as values, large ones as shape and range") {
  CHECK(detail::in_line(zeros({3, 0})) == "no numbers, [3, 0]");
  CHECK(detail::in_line(tensor({{1, 2}, {3, 4}})) == "[[1, 2], [3, 4]]");
  CHECK(detail::rows_of(tensor({{1, 2}, {3, 4}})) == Texts{"[1, 2]", "[3, 4]"});
  CHECK(detail::rows_of(tensor(0.25)) == Texts{"0.25"});
  CHECK(detail::in_line(linspace(-1, 1, 100)) == "[100] from -1 to 1");
  CHECK(detail::in_line(ones({2, 1, 1})) == "[[[1]], [[1]]]");
  CHECK(detail::in_line(reshape(arange(8), {2, 2, 2})) == "[[[0, 1], [2, 3]], [[4, 5], [6, 7]]]");
  CHECK(detail::in_line(full({20}, NAN)) == "[20] with 20 NaN");
  CHECK(detail::in_line(cat({arange(0, 20, 1.0), full({1}, NAN)}, 0)) == "[21] from 0 to 19 with 1 NaN");
}

TEST_CASE("Tape: each pass has its own sums, and a second derivative is another pass") {
  Tape tape;
  const Tensor x = tensor(2, float64).requires_grad_();
  const Tensor y = x * x * x;
  const Tensor slope = grad(y, {x}, true)[0];
  const size_t first = tape.steps().size();
  tape.name("x", x);
  slope.backward();
  CHECK(x.grad().item() == 12);
  double last = 0;
  for (size_t i = first; i < tape.steps().size(); ++i)
    for (const TapeStep::Contribution& part : tape.steps()[i].contributions)
      if (tape.label(part.to) == "x") last = part.sum.item();
  CHECK(last == 12);
}

TEST_CASE("Tape: rules that are recorded keep their contributions, and each pass has a heading") {
  Tape tape;
  const Tensor x = tensor(2, float64).requires_grad_();
  tape.name("x", x);
  const Tensor y = x * -3;
  grad(y, {x}, true);
  y.backward();
  CHECK(without_lines(tape_text(tape)) ==
        "forward: the operations in order\n"
        "x = 2    leaf\n"
        "#3 = mul(x, -3) = -6\n"
        "backward: the rule of each operation, after those of all its users\n"
        "#3: g = 1    mul: dx = g (-3)\n"
        "    x gets -3\n"
        "backward: the rule of each operation, after those of all its users\n"
        "#3: g = 1    mul: dx = g (-3)\n"
        "    x gets -3\n");
  const Tensor z = square(square(x));
  const Tensor slope = grad(z, {x}, true)[0];
  size_t contributions = 0;
  for (const TapeStep& step : tape.steps()) contributions += step.pass == 3 ? step.contributions.size() : 0;
  CHECK(contributions == 2);
}

TEST_CASE("Tape: a leaf that was overwritten becomes a new node with the same name") {
  Tape tape;
  const Tensor w = tensor({1, 2}).requires_grad_();
  tape.name("w", w);
  const Tensor before = square(w);
  unrecorded([&] { mul_(w, 0.5); });
  const Tensor after = square(w);
  const size_t second = tape.nodes().back().inputs.at(0);
  CHECK(second != tape.nodes()[1].inputs.at(0));
  CHECK(tape.label(second) == "w");
  CHECK(values(tape.nodes()[second].value) == Values{0.5, 1});
  CHECK(square(w).defined());
  CHECK(tape.nodes().back().inputs.at(0) == second);
}

TEST_CASE("Tape: results stay the same bit for bit, and other threads are not recorded") {
  const auto run = [] {
    manual_seed(3);
    Sequential model{Linear(3, 4), Linear(4, 1)};
    const Tensor x = randn({5, 3});
    F::mse_loss(model(x), zeros({5, 1})).backward();
    return bytes_of(model.parameters()[0].grad());
  };
  const std::string alone = run();
  Tape tape;
  CHECK(run() == alone);
  const size_t steps = tape.steps().size();
  CHECK(steps > 10);
  std::thread([&] { CHECK(run() == alone); }).join();
  unrecorded([] { ones({2}) * 2; });
  CHECK(tape.steps().size() == steps);
}

TEST_CASE("Tape: several tapes may end in any order") {
  auto outer = std::make_unique<Tape>();
  const Tensor x = tensor(1).requires_grad_();
  const Tensor a = x + 1;
  auto inner = std::make_unique<Tape>();
  const Tensor b = a + 1;
  outer.reset();
  const Tensor c = b + 1;
  CHECK(inner->steps().size() == 3);  // a, which is older than the tape, b and c
  c.backward();
  REQUIRE(inner->steps().size() == 6);
  CHECK(inner->steps()[4].contributions.at(0).gradient.item() == 1);
  CHECK(inner->steps()[5].contributions.empty());  // x is not on the tape
  inner.reset();
  CHECK_FALSE(Observer::any());
}

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
