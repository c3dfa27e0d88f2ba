// Attention with numbers small enough to follow, in plain loops beside the library.
//
//   forward    S = Q K^T    Z = S / sqrt(d)    A = softmax of each row of Z    O = A V
//   backward   dV = A^T dO    dA = dO V^T    dZ_ij = A_ij (dA_ij - sum_k A_ik dA_ik)
//              dQ = dZ K / sqrt(d)    dK = dZ^T Q / sqrt(d)
//
// Every number is computed twice: here, by the formulas, and by the library and its gradients in float64.

#include <heed.h>

#include <cmath>
#include <ostream>
#include <utility>

#include "examples/matrix.h"
#include "examples/program.h"

using namespace heed;
using namespace program;

namespace {

constexpr double kClose = 1e-12;

// The distance between what was computed by hand and by the library; an error when they are not the same.
double agree(const std::string& what, const Matrix& by_hand, const Tensor& by_library) {
  const double distance = largest_difference(by_hand, Matrix(by_library));
  check(distance <= kClose, what, " by hand and by the library differ by ", distance);
  return distance;
}

struct Forward {
  Matrix scores, scaled, weights, output;
};

Forward forward(const Matrix& q, const Matrix& k, const Matrix& v) {
  const Matrix scores = q * transpose(k);
  const Matrix scaled = 1 / std::sqrt(static_cast<double>(q.columns)) * scores;
  const Matrix weights = softmax_rows(scaled);
  return {scores, scaled, weights, weights * v};
}

// The weights as a picture, where pictures are wanted.
void draw(Program& self, const Matrix& weights, const Tokens& queries, const Tokens& keys) {
  if (self.draws())
    self.write_picture("weights.svg", attention_svg(AttentionMap(weights.tensor(), queries, keys)));
}

// Every step of attention, forward and then backward from the gradient `g` of the output. Queries and keys
// have names.
Forward walk(Program& self, const Matrix& q, const Matrix& k, const Matrix& v, const Matrix& g,
             const Tokens& queries, const Tokens& keys) {
  std::ostream& text = self.text();
  const double root = std::sqrt(static_cast<double>(q.columns));
  print(text, "Q", q);
  print(text, "K", k);
  print(text, "V: its width need not be that of Q and K", v);

  text << "\n-- forward: score, scale, normalise, weighted sum\n";
  const Forward y = forward(q, k, v);
  print(text, "scores = Q K^T: a row for each query, a column for each key", y.scores);
  print(text, "scaled = scores / sqrt(" + std::to_string(q.columns) + ") = scores / " + short_number(root),
        y.scaled);
  print(text, "weights = softmax over the keys: each row sums to 1", y.weights);
  print(text, "output = weights V: values are mixed, not keys", y.output);

  text << "\n-- backward, from the gradient of the output\n";
  print(text, "dO", g);
  const Matrix d_weights = g * transpose(v), d_v = transpose(y.weights) * g;
  Matrix d_scaled = d_weights;
  for (size_t i = 0; i < q.rows; ++i) {
    double mean = 0;
    for (size_t j = 0; j < k.rows; ++j) mean += y.weights(i, j) * d_weights(i, j);
    for (size_t j = 0; j < k.rows; ++j) d_scaled(i, j) = y.weights(i, j) * (d_weights(i, j) - mean);
  }
  const Matrix d_scores = 1 / root * d_scaled, d_q = d_scores * k, d_k = transpose(d_scores) * q;
  print(text, "dV = weights^T dO", d_v);
  print(text, "dweights = dO V^T", d_weights);
  print(text, "dscaled = weights (dweights - their weighted mean in the row): each row sums to 0", d_scaled);
  print(text, "dscores = dscaled / " + short_number(root), d_scores);
  print(text, "dQ = dscores K", d_q);
  print(text, "dK = dscores^T Q", d_k);

  const Tensor Q = q.tensor().requires_grad_(), K = k.tensor().requires_grad_(),
               V = v.tensor().requires_grad_();
  const auto [output, weights] = F::scaled_dot_product_attention(Q, K, V, {.need_weights = true});
  output.backward(g.tensor());
  agree("weights", y.weights, weights);
  agree("output", y.output, output);
  const double distance =
      std::max({agree("dQ", d_q, Q.grad()), agree("dK", d_k, K.grad()), agree("dV", d_v, V.grad())});
  text << "\nautograd gives the same, to " << short_number(distance) << "\n";

  self.result("scores", y.scores.tensor());
  self.result("scaled", y.scaled.tensor());
  self.result("weights", y.weights.tensor());
  self.result("output", y.output.tensor());
  self.result("grad.Q", d_q.tensor());
  self.result("grad.K", d_k.tensor());
  self.result("grad.V", d_v.tensor());
  self.result("autograd.Q", Q.grad());
  self.result("autograd.K", K.grad());
  self.result("autograd.V", V.grad());
  draw(self, y.weights, queries, keys);
  return y;
}

// Two queries, two keys of width 3, two values of width 2.
void worked(Program& self) {
  walk(self, {{1, 0, 1}, {0, 1, 1}}, {{1, 1, 0}, {0, 1, 1}}, {{1, 2}, {3, 4}}, Matrix(2, 2, 1), {"q1", "q2"},
       {"k1", "k2"});
}

// Two words become queries, keys and values of width 64, so that scores are divided by 8.
void thinking_machines(Program& self) {
  const Matrix x = {{1, 0, 1, 0}, {0, 1, 0, 1}};  // "Thinking", "Machines"
  Matrix w_q(4, 64), w_k(4, 64), w_v(4, 64);
  for (size_t c = 0; c < 64; ++c) {
    const double sign = c % 2 ? -1 : 1;
    w_q(0, c) = 1;  // Thinking asks for everything alike
    w_q(1, c) = 0.5 + 0.5 * sign;
    w_k(0, c) = 1.75;
    w_k(2, c) = 0.5 * sign;
    w_k(1, c) = 1.5;
    w_k(3, c) = -0.5 * sign;
    w_v(0, c) = 0.25 * static_cast<double>(c % 5);
    w_v(1, c) = 1 - 0.25 * static_cast<double>(c % 3);
  }
  std::ostream& text = self.text();
  text << "-- project: Q = X W_Q, K = X W_K, V = X W_V\n";
  print(text, "X: Thinking, Machines", x);
  print(text, "W_Q", w_q);
  print(text, "W_K", w_k);
  print(text, "W_V", w_v);
  const Matrix q = x * w_q, k = x * w_k, v = x * w_v;
  text << "\n";
  walk(self, q, k, v, Matrix(2, 64, 1.0 / 64), {"Thinking", "Machines"}, {"Thinking", "Machines"});
  const Tensor weights[] = {t(w_q.tensor()), t(w_k.tensor()), t(w_v.tensor())};
  agree("Q", q, F::linear(x.tensor(), weights[0]));
  agree("K", k, F::linear(x.tensor(), weights[1]));
  agree("V", v, F::linear(x.tensor(), weights[2]));
}

const Tokens kWords = {"the", "cat", "sat", "down"};
const Matrix kVectors = {{1, 0, 1}, {0, 2, 1}, {1, 1, 0}, {2, 0, 0}};  // four inputs x_1 .. x_4

// How one row of the output comes about: weight times value, summed over the sources.
void mix(Program& self) {
  const size_t row = 1;
  Matrix g(4, 3);
  for (size_t c = 0; c < 3; ++c) g(row, c) = 1;
  const Forward y = walk(self, kVectors, kVectors, kVectors, g, kWords, kWords);
  std::ostream& text = self.text();
  text << "\nthe ledger of the output for \"" << kWords[row] << "\": weight x value\n";
  Table table({"source", "weight", "x 1st", "x 2nd", "x 3rd"});
  Matrix ledger(4, 3), sums(1, 3);
  for (size_t j = 0; j < 4; ++j) {
    const double a = y.weights(row, j);
    std::vector<std::string> line = {kWords[j], short_number(a)};
    for (size_t c = 0; c < 3; ++c) {
      ledger(j, c) = a * kVectors(j, c);
      sums(0, c) += ledger(j, c);
      line.push_back(short_number(a) + " x " + short_number(kVectors(j, c)) + " = " +
                     short_number(ledger(j, c)));
    }
    table.add(line);
  }
  table.add({"sum", "1", short_number(sums(0, 0)), short_number(sums(0, 1)), short_number(sums(0, 2))});
  text << table.to_string() << "\n";
  agree("the sum of the ledger", sums, narrow(y.output.tensor(), 0, row, 1));
  self.result("ledger", ledger.tensor());
}

// Self-attention: every output sees every input.
void four(Program& self) {
  const Tokens names = {"x1", "x2", "x3", "x4"};
  const Forward y = walk(self, kVectors, kVectors, kVectors, Matrix(4, 3, 1), names, names);
  std::ostream& text = self.text();
  text << "\nz_i = sum_j a_ij x_j, a_ij = softmax_j(x_i . x_j / sqrt(3))\n";
  for (size_t i = 0; i < 4; ++i) {
    text << "z_" << i + 1 << " =";
    for (size_t j = 0; j < 4; ++j)
      text << (j ? " + " : " ") << short_number(y.weights(i, j)) << " x_" << j + 1;
    text << " = (" << short_number(y.output(i, 0)) << ", " << short_number(y.output(i, 1)) << ", "
         << short_number(y.output(i, 2)) << ")\n";
  }
}

// The slope of the output in the query, when values are the keys, by autograd: J_ab = d output_a / d q_b.
Tensor jacobian(const AnyScore& score, const Tensor& query, const Tensor& keys) {
  const Tensor q = query.detach().requires_grad_();
  const AttentionPooling pooling{score};
  const Tensor output = pooling(q, keys).output;
  std::vector<Tensor> rows;
  for (int64_t a = 0; a < output.size(1); ++a) {
    const Tensor one = narrow(eye(output.size(1), -1, float64), 0, a, 1);
    rows.push_back(grad({output}, {q}, {.grad_outputs = {one}, .retain_graph = true})[0]);
  }
  return cat(rows);
}

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
  std::ostream& text = self.text();
  print(text, "q", Matrix(q));
  print(text, "K = V", kVectors);
  for (const Kind& kind : kinds) {
    const Matrix a = softmax_rows(Matrix(kind.score(q, k)));
    const Matrix mean = a * kVectors;
    Matrix by_hand(3, 3);
    for (size_t j = 0; j < 4; ++j)
      for (size_t r = 0; r < 3; ++r)
        for (size_t c = 0; c < 3; ++c)
          by_hand(r, c) +=
              kind.factor * a(0, j) * (kVectors(j, r) - mean(0, r)) * (kVectors(j, c) - mean(0, c));
    const Tensor by_autograd = jacobian(kind.score, q, k);
    text << "\n-- " << kind.title << "\n";
    print(text, "weights", a);
    print(text, "sum_j a_j (k_j - mean)(k_j - mean)^T, with its factor", by_hand);
    text << "the Jacobian by autograd differs by "
         << short_number(agree("the Jacobian", by_hand, by_autograd)) << "\n";
    if (kind.key == "dot") draw(self, a, {"q"}, kWords);
    self.result(kind.key + ".covariance", by_hand.tensor());
    self.result(kind.key + ".jacobian", by_autograd);
  }
}

// Why backward needs an order, and why the gradient of a broadcast operand is a sum.
void graph(Program& self) {
  std::ostream& text = self.text();
  const Tensor x = tensor(3, float64).requires_grad_();
  const Tensor a = x * x;  // used twice: by b and by y
  const Tensor b = a * 2;
  const Tensor y = a * b;  // 2 x^4
  text << "x = 3    a = x x    b = 2 a    y = a b = 2 x^4\n\n" << graph_text(y) << "\n";

  // a's gradient has two parts: from y at once, b, and from y by way of b, 2 a. The rule of a = x x may run
  // once both are there; run when the first arrives it misses the second.
  const double from_y = b.item(), from_b = 2 * a.item(), slope = 2 * x.item();
  const double too_early = from_y * slope, in_order = (from_y + from_b) * slope;
  text << "in an order in which no node runs before all that use its result (y, b, a):\n"
       << "  da = " << from_y << " from y + " << from_b << " from b = " << from_y + from_b << "\n"
       << "  dx = da 2x = " << in_order << "\n"
       << "as soon as the first gradient arrives (y, a, b):\n"
       << "  dx = " << from_y << " * 2x = " << too_early << ", half of it lost\n";
  y.backward();
  check(std::fabs(x.grad().item() - in_order) <= kClose, "dx by hand and by autograd differ");
  text << "autograd: dx = " << x.grad().item() << ", and 8 x^3 = " << 8 * 27 << "\n";

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
  if (self.draws()) {
    const Tensor z = square(tensor(3, float64).requires_grad_());
    self.draw_graph("graph", graph_dot(z * (z * 2)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  Program self("attention_by_hand", "Attention step by step with small numbers, by hand and by the library.");
  const std::vector<std::pair<std::string, void (*)(Program&)>> examples = {
      {"worked", worked},
      {"thinking-machines", thinking_machines},
      {"mix", mix},
      {"four", four},
      {"covariance", covariance},
      {"graph", graph}};
  std::string chosen = "worked";
  std::vector<std::string> names;
  for (const auto& [name, show] : examples) names.push_back(name);
  self.choice("--example", chosen, names, "What to show");
  return self.run(argc, argv, [&] {
    for (const auto& [name, show] : examples)
      if (name == chosen) show(self);
  });
}
