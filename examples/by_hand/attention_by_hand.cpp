// Attention with numbers small enough to follow, in plain loops and by the library.
//
//   forward    S = Q K^T    Z = S / sqrt(d)    A = softmax of each row of Z    O = A V
//   backward   dV = A^T dO    dA = dO V^T    dZ_ij = A_ij (dA_ij - sum_k A_ik dA_ik)
//              dQ = dZ K / sqrt(d)    dK = dZ^T Q / sqrt(d)
//
// Every number is computed twice: here, by the formulas, and by the library and its gradients in float64. The
// examples of several heads, of masks and positions, of pooling and of gradients are in sources of their own.

#include <heed.h>
#include <heed/text.h>
#include <heed/view.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <utility>

#include "examples/by_hand/by_hand.h"
#include "examples/by_hand/gradients.h"
#include "examples/by_hand/heads.h"
#include "examples/by_hand/pooling.h"
#include "examples/by_hand/sequences.h"

using namespace heed;
using namespace program;

namespace {

// Two formulas that all examples of `walk` share.
const std::string kForward =
    "S = Q Kᵀ    Z = S / √d    A = softmax of each row of Z    O = A V    (d: the width of Q and K)";
const std::string kBackward =
    "dV = Aᵀ dO    dA = dO Vᵀ    dZᵢⱼ = Aᵢⱼ (dAᵢⱼ − Σₖ Aᵢₖ dAᵢₖ)    dQ = dZ K / √d    dK = dZᵀ Q / √d";

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
  const Backward d = backward(y, q, k, v, g);
  print(text, "dV = weights^T dO", d.v);
  print(text, "dweights = dO V^T", d.weights);
  print(text, "dscaled = weights (dweights - their weighted mean in the row): each row sums to 0", d.scaled);
  print(text, "dscores = dscaled / " + short_number(root), d.scores);
  print(text, "dQ = dscores K", d.q);
  print(text, "dK = dscores^T Q", d.k);

  const Tensor Q = q.tensor().requires_grad_(), K = k.tensor().requires_grad_(),
               V = v.tensor().requires_grad_();
  const auto [output, weights] = F::scaled_dot_product_attention(Q, K, V, {.need_weights = true});
  output.backward(g.tensor());
  agree("weights", y.weights, weights);
  agree("output", y.output, output);
  const double distance =
      std::max({agree("dQ", d.q, Q.grad()), agree("dK", d.k, K.grad()), agree("dV", d.v, V.grad())});
  text << "\nautograd gives the same, to " << short_number(distance) << "\n";

  self.result("scores", y.scores.tensor());
  self.result("scaled", y.scaled.tensor());
  self.result("weights", y.weights.tensor());
  self.result("output", y.output.tensor());
  self.result("grad.Q", d.q.tensor());
  self.result("grad.K", d.k.tensor());
  self.result("grad.V", d.v.tensor());
  self.result("autograd.Q", Q.grad());
  self.result("autograd.K", K.grad());
  self.result("autograd.V", V.grad());
  draw(self, y.weights.tensor(), queries, keys);
  return y;
}

// Two queries, two keys of width 3, two values of width 2.
void worked(Program& self) {
  introduce(
      self,
      {"Scaled dot-product attention and its gradient, step by step", kForward + "\n" + kBackward,
       "two queries, two keys of width 3, two values of width 2; the gradient of the output is 1 everywhere",
       "a larger score is a larger weight; every row of weights sums to 1; values are mixed, not keys"});
  const Forward y = walk(self, {{1, 0, 1}, {0, 1, 1}}, {{1, 1, 0}, {0, 1, 1}}, {{1, 2}, {3, 4}},
                         Matrix(2, 2, 1), {"q1", "q2"}, {"k1", "k2"});
  conclude(self, "q1 fits both keys alike, scores " + row_text(y.scores, 0) + ", so its output " +
                     row_text(y.output, 0) + " is the middle of the values; q2 fits k2 better, " +
                     row_text(y.scores, 1) + ", gives it the weight " + short_number(y.weights(1, 1)) +
                     ", and its output " + row_text(y.output, 1) + " lies nearer to v2.");
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
  introduce(
      self,
      {"Thinking Machines: two words become queries, keys and values",
       "Q = X W_Q    K = X W_K    V = X W_V\n" + kForward + "\n" + kBackward,
       "two words of width 4, projected to the width 64 by three matrices, attend to each other",
       "what the scores are divided by, and how little of a weight a score smaller by some units leaves"});
  std::ostream& text = self.text();
  text << "-- project: Q = X W_Q, K = X W_K, V = X W_V\n";
  print(text, "X: Thinking, Machines", x);
  print(text, "W_Q", w_q);
  print(text, "W_K", w_k);
  print(text, "W_V", w_v);
  const Matrix q = x * w_q, k = x * w_k, v = x * w_v;
  text << "\n";
  const Forward y =
      walk(self, q, k, v, Matrix(2, 64, 1.0 / 64), {"Thinking", "Machines"}, {"Thinking", "Machines"});
  const Tensor weights[] = {t(w_q.tensor()), t(w_k.tensor()), t(w_v.tensor())};
  agree("Q", q, F::linear(x.tensor(), weights[0]));
  agree("K", k, F::linear(x.tensor(), weights[1]));
  agree("V", v, F::linear(x.tensor(), weights[2]));
  conclude(self, "divided by √64 = 8 the scores " + row_text(y.scores, 0) + " of Thinking are " +
                     row_text(y.scaled, 0) + ", and a difference of " +
                     short_number(y.scaled(0, 0) - y.scaled(0, 1)) + " gives the weights " +
                     row_text(y.weights, 0) + "; not divided, a difference of " +
                     short_number(y.scores(0, 0) - y.scores(0, 1)) + " would leave Machines " +
                     short_number(1 / (1 + std::exp(y.scores(0, 0) - y.scores(0, 1)))) + ".");
}

// How one row of the output comes about: weight times value, summed over the sources.
void mix(Program& self) {
  const size_t cat = 1;
  introduce(
      self,
      {"How one row of the output is mixed", "oᵢ = Σⱼ aᵢⱼ vⱼ\n" + kForward + "\n" + kBackward,
       "four words attend to each other, Q = K = V = X; the gradient is that of the row of \"cat\" alone",
       "the ledger at the end: weight times value, summed over the sources; and dV, whose rows are the "
       "weights"});
  Matrix g(4, 3);
  for (size_t c = 0; c < 3; ++c) g(cat, c) = 1;
  const Forward y = walk(self, kVectors, kVectors, kVectors, g, kWords, kWords);
  std::ostream& text = self.text();
  text << "\nthe ledger of the output for \"" << kWords[cat] << "\": weight x value\n";
  Table table({"source", "weight", "x 1st", "x 2nd", "x 3rd"});
  Matrix ledger(4, 3), sums(1, 3);
  for (size_t j = 0; j < 4; ++j) {
    const double a = y.weights(cat, j);
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
  agree("the sum of the ledger", sums, narrow(y.output.tensor(), 0, cat, 1));
  self.result("ledger", ledger.tensor());
  conclude(self, "the output for \"cat\", " + row_text(sums, 0) + ", is " +
                     short_number(100 * y.weights(cat, cat)) + " % its own value " + row_text(kVectors, cat) +
                     " and the rest of the others'; the gradient of " +
                     "a value is the weight with which it was mixed.");
}

// d z_i / d x_j of z_i = sum_j a_ij x_j, where x_i is query, key and value: [3, 3] for each pair, one above
// and beside the other. With a_i the weights of row i and Cov_i the covariance of the keys under them
//
//   d z_i / d x_j = a_ij (I + (x_j - z_i) x_i^T / sqrt(d)) + [i == j] Cov_i / sqrt(d)
Matrix blocks(const Forward& y, const Matrix& x) {
  const size_t d = x.columns;
  const double root = std::sqrt(static_cast<double>(d));
  Matrix all(x.rows * d, x.rows * d);
  for (size_t i = 0; i < x.rows; ++i)
    for (size_t j = 0; j < x.rows; ++j)
      for (size_t r = 0; r < d; ++r)
        for (size_t c = 0; c < d; ++c) {
          const double away = x(j, r) - y.output(i, r), a = y.weights(i, j);
          all(i * d + r, j * d + c) += a * ((r == c) + away * x(i, c) / root);
          all(i * d + r, i * d + c) += a * away * (x(j, c) - y.output(i, c)) / root;
        }
  return all;
}

// The norm of each block.
Matrix norms(const Matrix& blocks, size_t d) {
  Matrix squares(blocks.rows / d, blocks.columns / d);
  for (size_t r = 0; r < blocks.rows; ++r)
    for (size_t c = 0; c < blocks.columns; ++c) squares(r / d, c / d) += blocks(r, c) * blocks(r, c);
  for (double& value : squares.values) value = std::sqrt(value);
  return squares;
}

// Self-attention: every output sees every input, or none that comes later.
void four(Program& self) {
  introduce(
      self,
      {"Self-attention: four inputs, four outputs",
       "zᵢ = Σⱼ aᵢⱼ xⱼ    aᵢⱼ = softmaxⱼ(xᵢ · xⱼ / √d)\n" + kForward + "\n" + kBackward +
           "\n"
           "∂zᵢ/∂xⱼ = aᵢⱼ (I + (xⱼ − zᵢ) xᵢᵀ / √d) + [i = j] Covᵢ / √d    Covᵢ: covariance of the x under aᵢ",
       "four vectors of width 3 attend to one another, Q = K = V = X; the output has the gradient 1",
       "no weight and no block ∂zᵢ/∂xⱼ is zero: each output sees each input; when causal, none later"});
  const Tokens names = {"x1", "x2", "x3", "x4"};
  const Forward y = walk(self, kVectors, kVectors, kVectors, Matrix(4, 3, 1), names, names);
  std::ostream& text = self.text();
  text << "\nz_i = sum_j a_ij x_j, a_ij = softmax_j(x_i . x_j / sqrt(3))\n";
  for (size_t i = 0; i < 4; ++i) {
    text << "z_" << i + 1 << " =";
    for (size_t j = 0; j < 4; ++j)
      text << (j ? " + " : " ") << short_number(y.weights(i, j)) << " x_" << j + 1;
    text << " = " << row_text(y.output, i) << "\n";
  }

  text << "\n-- what sees what: the norm of each block dz_i/dx_j, a row for each output, a column for each "
          "input\n";
  const Tensor x = kVectors.tensor().requires_grad_();
  double distance = 0, least = INFINITY, later = 0;
  for (const bool causal : {false, true}) {
    const Forward seen = forward(kVectors, kVectors, kVectors, causal ? Mask::causal(4) : Mask());
    const Matrix by_hand = blocks(seen, kVectors), sizes = norms(by_hand, 3);
    const Tensor z = F::scaled_dot_product_attention(x, x, x, {.is_causal = causal}).output;
    distance = std::max(distance, agree("the Jacobian", by_hand, jacobian(z, x)));
    print(text, causal ? "causal: x_j may be seen by z_i where j is at most i" : "every output, every input",
          sizes);
    for (size_t i = 0; i < 4; ++i)
      for (size_t j = 0; j < 4; ++j) {
        if (!causal) least = std::min(least, sizes(i, j));
        if (causal && j > i) later = std::max(later, sizes(i, j));
      }
    self.result(causal ? "jacobian.causal" : "jacobian.all", sizes.tensor());
  }
  text << "autograd gives the same, to " << short_number(distance) << "\n";
  const double part = *std::min_element(y.weights.values.begin(), y.weights.values.begin() + 4);
  conclude(self, "z1 = " + row_text(y.output, 0) + " holds at least " + short_number(part) +
                     " of every x, and no block is smaller than " + short_number(least) +
                     ": each output sees each input; when causal the largest block above the diagonal is " +
                     short_number(later) + ".");
}

}  // namespace

int main(int argc, char** argv) {
  Program self("attention_by_hand", "Attention step by step with small numbers, by hand and by the library.");
  const std::vector<std::pair<std::string, void (*)(Program&)>> examples = {
      {"worked", worked},
      {"thinking-machines", thinking_machines},
      {"mix", mix},
      {"four", four},
      {"gaussian", gaussian},
      {"hard", hard},
      {"multi-head", multi_head},
      {"cache", cache},
      {"masks", masks},
      {"positions", positions},
      {"context", context},
      {"covariance", covariance},
      {"graph", graph}};
  std::string chosen = "worked";
  std::vector<std::string> names;
  for (const auto& [name, show] : examples) names.push_back(name);
  self.choice("--example", chosen, names, "What to show");
  bool step = false;
  self.flag("--step", step, "Of the example graph one step after the other; on a terminal Enter goes on");
  return self.run(argc, argv, [&] {
    check(!step || chosen == "graph", "--step walks through a graph: give --example graph with it");
    for (const auto& [name, show] : examples)
      if (name == chosen) show(self);
  });
}
