#include "examples/by_hand/gradients.h"

#include <heed.h>
#include <heed/view.h>
#include <unistd.h>

#include <cmath>
#include <iostream>
#include <optional>

#include "examples/by_hand/by_hand.h"

namespace program {

using namespace heed;

// With K = V the output is the mean of the keys under the weights, and its slope in the query their
// covariance: a query moves the output along directions in which the keys it looks at differ.
void covariance(Program& self) {
  const double w = 0.7;
  const Tensor q = tensor({{0.5, -0.2, 0.8}}, float64), k = kVectors.tensor();
  struct Kind {
    std::string key, title;
    AnyScore score;
    double factor;
  };
  GaussianScore gaussian(w);
  gaussian.w.to_(float64);
  gaussian.w = full({1}, w, float64);
  const Kind kinds[] = {
      {"dot", "dot score: the covariance", DotScore(), 1},
      {"scaled_dot", "scaled dot score: over sqrt(3)", ScaledDotScore(), 1 / std::sqrt(3.0)},
      {"gaussian", "Gaussian score: times w^2 = 0.49", gaussian, w * w}};
  introduce(self,
            {"With keys that are values, the slope of the output in the query is a covariance",
             "o = Σⱼ aⱼ kⱼ    ∂o/∂q = c Covₐ(k) = c Σⱼ aⱼ (kⱼ − o)(kⱼ − o)ᵀ\n"
             "c = 1 of the dot score, 1/√d of the scaled one, w² of the Gaussian −|q − k|² w² / 2",
             "one query, four keys of width 3, three scores; the Jacobian by autograd next to the formula",
             "each matrix is symmetric, with a positive diagonal: a query moves the output along directions\n"
             "in which the keys that it looks at differ"});
  std::ostream& text = self.text();
  print(text, "q", Matrix(q));
  print(text, "K = V", kVectors);
  double spread = 0, scaled = 0;
  for (const Kind& kind : kinds) {
    const Tensor query = q.detach().requires_grad_();
    const Matrix a = softmax_rows(Matrix(kind.score(q, k)));
    const Matrix mean = a * kVectors;
    Matrix by_hand(3, 3);
    for (size_t j = 0; j < 4; ++j)
      for (size_t r = 0; r < 3; ++r)
        for (size_t c = 0; c < 3; ++c)
          by_hand(r, c) +=
              kind.factor * a(0, j) * (kVectors(j, r) - mean(0, r)) * (kVectors(j, c) - mean(0, c));
    const Tensor by_autograd = jacobian(AttentionPooling(kind.score)(query, k).output, query);
    text << "\n-- " << kind.title << "\n";
    print(text, "weights", a);
    print(text, "sum_j a_j (k_j - mean)(k_j - mean)^T, with its factor", by_hand);
    text << "the Jacobian by autograd differs by "
         << short_number(agree("the Jacobian", by_hand, by_autograd)) << "\n";
    if (kind.key == "dot") spread = by_hand(0, 0);
    if (kind.key == "scaled_dot") scaled = by_hand(0, 0);
    if (kind.key == "dot") draw(self, a.tensor(), {"q"}, kWords);
    self.result(kind.key + ".covariance", by_hand.tensor());
    self.result(kind.key + ".jacobian", by_autograd);
  }
  conclude(self,
           "with the dot score the slope of the output's first number in the query's first is " +
               short_number(spread) +
               ", the variance of the keys' first numbers under the weights; with the scaled score it is " +
               short_number(scaled) + ", the variance under more even weights, divided by √3.");
}

// What the engine did, step by step; with --step on a terminal each waits for the Enter key.
static void walk_through(Program& self, const Tape& tape) {
  std::ostream& text = self.text();
  if (!self.given("--step")) {
    text << tape_text(tape) << "\n";
    return;
  }
  const bool waits = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
  std::string line;
  if (waits) text << "Enter goes on to the next step.\n" << std::flush;
  for (size_t i = 0; i < tape.steps().size(); ++i) {
    text << "step " << i + 1 << " of " << tape.steps().size()
         << (tape.steps()[i].gradient.defined() ? ", backward: " : ", forward: ") << tape_text(tape, i)
         << "\n";
    if (waits && i + 1 < tape.steps().size()) std::getline(std::cin, line);
  }
  text << "\n";
}

// Why backward needs an order, and why the gradient of a broadcast operand is a sum.
void graph(Program& self) {
  introduce(self,
            {"Why backward needs an order, and why a broadcast operand has a sum for its gradient",
             "a = x x    b = 2 a    y = a b    dx = da 2x    da = (from y) b + (from b) 2 a\n"
             "y = 2 x⁴    dy/dx = 8 x³\n"
             "n = m + bias, bias the same for each row:    dbiasⱼ = Σᵢ dnᵢⱼ",
             "the graph of y, walked backward in two orders; then a vector added to each row of a matrix",
             "the half of dx that is lost where a rule runs before its whole gradient is there"});
  std::ostream& text = self.text();
  std::optional<Tape> tape(std::in_place);
  const Tensor x = tensor(3, float64).requires_grad_();
  const Tensor a = x * x;  // used twice: by b and by y
  const Tensor b = a * 2;
  const Tensor y = a * b;  // 2 x^4
  y.backward();
  for (const auto& [name, value] : {std::pair("x", x), {"a", a}, {"b", b}, {"y", y}}) tape->name(name, value);
  walk_through(self, *tape);
  if (self.draws()) {
    self.write_picture("graph.svg", tape_svg(*tape));
    self.write_picture("graph.html", tape_page(*tape, {.title = "Step by step: a = x x, b = 2 a, y = a b"}));
  }
  tape.reset();

  // a's gradient has two parts: from y at once, b, and from y by way of b, 2 a. The rule of a = x x may run
  // once both are there; run when the first arrives it misses the second.
  const double from_y = b.item(), from_b = 2 * a.item(), slope = 2 * x.item();
  const double too_early = from_y * slope, in_order = (from_y + from_b) * slope;
  text << "in an order in which no node runs before all that use its result (y, b, a):\n"
       << "  da = " << from_y << " from y + " << from_b << " from b = " << from_y + from_b << "\n"
       << "  dx = da 2x = " << in_order << "\n"
       << "as soon as the first gradient arrives (y, a, b):\n"
       << "  dx = " << from_y << " * 2x = " << too_early << ", half of it lost\n";
  agree("dx", Matrix(1, 1, in_order), reshape(x.grad(), {1, 1}));
  text << "autograd: dx = " << x.grad().item() << ", and 8 x^3 = " << 8 * std::pow(x.item(), 3) << "\n";

  const Tensor m = tensor({{1, 2, 3}, {4, 5, 6}}, float64).requires_grad_();
  const Tensor bias = tensor({10, 20, 30}, float64).requires_grad_();
  const Tensor g = tensor({{1, 2, 3}, {10, 20, 30}}, float64);
  (m + bias).backward(g);
  text << "\nbias [3] is added to each row of m [2, 3]: each of its numbers is used twice, so its gradient "
          "is the sum\n"
       << "of the gradients of both uses, as for a above\n";
  print(text, "the gradient of m + bias", Matrix(g));
  print(text, "the gradient of bias: its sum over the rows", Matrix(unsqueeze(bias.grad(), 0)));
  Matrix sums(1, 3);
  for (size_t i = 0; i < 2; ++i)
    for (size_t j = 0; j < 3; ++j) sums(0, j) += Matrix(g)(i, j);
  agree("the gradient of bias", sums, unsqueeze(bias.grad(), 0));

  self.result("grad.in_order", in_order);
  self.result("grad.too_early", too_early);
  self.result("autograd.x", x.grad());
  self.result("grad.bias", sums.tensor());
  self.result("autograd.bias", bias.grad());
  conclude(self, "in order dx is " + short_number(in_order) + ", as 8 x³ says, and too early it is " +
                     short_number(too_early) + "; the gradient of bias, " + row_text(sums, 0) +
                     ", adds up those of the rows that it was added to.");
}

}  // namespace program
