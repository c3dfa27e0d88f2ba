#include "examples/by_hand/sequences.h"

#include <heed.h>
#include <heed/text.h>
#include <heed/view.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "examples/by_hand/by_hand.h"

namespace program {

using namespace heed;

void masks(Program& self) {
  introduce(
      self,
      {"Masks: which query may attend to which key",
       "zᵢⱼ = qᵢ · kⱼ / √d where i may attend to j, else −∞    aᵢⱼ = exp(zᵢⱼ) / Σₖ exp(zᵢₖ)    oᵢ = Σⱼ aᵢⱼ "
       "vⱼ\n"
       "where all of row i is −∞ that is 0 / 0; attention says aᵢⱼ = 0, oᵢ = 0 and gradient 0",
       "four words attend to one another, Q = K = V = X, under six masks: x = may attend, . = may not",
       "a weight of 0 wherever the mask has a dot; other weights of the row grow, so that it sums to 1, if "
       "any are left"});
  std::ostream& text = self.text();
  const Mask causal = Mask::causal(4), length = Mask::lengths(tensor({3}, int64), 4).allowed()[0],
             window = Mask::window(4, 1, 1);
  struct Kind {
    std::string key, title;
    Mask mask;
  };
  const Kind kinds[] = {{"causal", "causal: no later key", causal},
                        {"length", "padding: the first 3 keys, one row for all queries", length},
                        {"window", "window: one key before, one behind", window},
                        {"causal_and_length", "causal and padding", causal & length},
                        {"causal_or_window", "causal or window", causal | window},
                        {"not_causal", "not causal: later keys only, and none for the last query", ~causal}};
  print(text, "X: the, cat, sat, down", kVectors);
  double distance = 0;
  for (const Kind& kind : kinds) {
    const Forward y = forward(kVectors, kVectors, kVectors, kind.mask);
    const Tensor x = kVectors.tensor();
    const auto [output, weights] = AttentionPooling(ScaledDotScore())(x, x, x, kind.mask);
    distance =
        std::max({distance, agree("weights", y.weights, weights), agree("the output", y.output, output)});
    text << "\n-- " << kind.title << "\n" << to_string(kind.mask);
    print(text, "weights", y.weights);
    self.result(kind.key + ".mask", to_string(kind.mask));
    self.result(kind.key + ".weights", y.weights.tensor());
    self.result(kind.key + ".output", y.output.tensor());
    draw(self, y.weights.tensor(), kWords, kWords, "weights_" + kind.key + ".svg", kind.mask);
  }
  text << "\nthe library gives the same weights and outputs, to " << short_number(distance) << "\n";

  const Matrix g(4, 3, 1);
  const Forward y = forward(kVectors, kVectors, kVectors, ~causal);
  const Backward d = backward(y, kVectors, kVectors, kVectors, g);
  const Tensor Q = kVectors.tensor().requires_grad_(), K = kVectors.tensor().requires_grad_(),
               V = kVectors.tensor().requires_grad_();
  F::scaled_dot_product_attention(Q, K, V, {.mask = (~causal).allowed()}).output.backward(g.tensor());
  const double gradients =
      std::max({agree("dQ", d.q, Q.grad()), agree("dK", d.k, K.grad()), agree("dV", d.v, V.grad())});
  const Tensor plain = softmax(full({1, 4}, -INFINITY, float64), -1);
  text << "\n-- a query that may attend to nothing: \"down\" under not causal\n";
  print(text, "its output", row(y.output, 3));
  print(text, "the gradient of its query, where that of every output is 1", row(d.q, 3));
  text << "autograd gives the same gradients of Q, K and V, to " << short_number(gradients) << "\n";
  print(text, "plain softmax of four times -infinity, by hand", softmax_rows(Matrix(1, 4, -INFINITY)));
  print(text, "and by the library", Matrix(plain));
  self.result("nothing.output", row(y.output, 3).tensor());
  self.result("nothing.gradient", row(Matrix(Q.grad()), 3).tensor());
  self.result("nothing.plain_softmax", plain);
  conclude(self,
           "under the causal mask \"the\" attends to itself alone, weight 1; with nothing to attend to "
           "\"down\" has the output " +
               row_text(y.output, 3) + " and the gradient " + row_text(d.q, 3) +
               ", where plain softmax says " + short_number(std::fabs(Matrix(plain)(0, 0))) + ".");
}

namespace {

constexpr double kBase = 10000;

// The angle of pair i at a position, in a vector of this width.
double angle(double position, size_t pair, size_t width) {
  return position / std::pow(kBase, 2 * static_cast<double>(pair) / static_cast<double>(width));
}

// The sinusoidal positions 0, 1, ...: sines at even columns, cosines at odd ones.
Matrix sinusoids(size_t length, size_t width) {
  Matrix table(length, width);
  for (size_t p = 0; p < length; ++p)
    for (size_t c = 0; c < width; ++c) {
      const double a = angle(static_cast<double>(p), c / 2, width);
      table(p, c) = c % 2 ? std::cos(a) : std::sin(a);
    }
  return table;
}

// Takes the sine and cosine of any angle to those of the angle + a: (sin, cos) as a column.
Matrix rotation(double a) { return {{std::cos(a), std::sin(a)}, {-std::sin(a), std::cos(a)}}; }

// Each pair of x, a row, turned by its angle at a position.
Matrix turned(const Matrix& x, size_t position) {
  Matrix y = x;
  for (size_t i = 0; i < x.columns / 2; ++i) {
    const double a = angle(static_cast<double>(position), i, x.columns);
    y(0, 2 * i) = x(0, 2 * i) * std::cos(a) - x(0, 2 * i + 1) * std::sin(a);
    y(0, 2 * i + 1) = x(0, 2 * i + 1) * std::cos(a) + x(0, 2 * i) * std::sin(a);
  }
  return y;
}

constexpr const char* kPositions = R"(set title 'Sinusoidal positions of width 64'
set datafile separator comma
set xlabel 'column'
set ylabel 'position p'
set cblabel 'PE(p)'
set xrange [-0.5:63.5]
set yrange [49.5:-0.5]
set cbrange [-1:1]
set palette defined (0 '#f7fbff', 0.5 '#6baed6', 1 '#08306b')
unset grid
set border 15
set tics out
plot 'positions.csv' matrix with image pixels notitle
)";

constexpr const char* kProducts = R"(set title 'PE(p) · PE(p + δ) of width 64'
set datafile separator comma
set xlabel 'distance δ'
set ylabel 'dot product'
set xrange [-100:100]
set yrange [0:34]
unset key
plot 'position_products.csv' with lines lw 2
)";

// PE(p + delta) = R(delta) PE(p): the same rotation of a pair wherever p is.
double rotations(Program& self, const Matrix& table) {
  constexpr size_t delta = 2;
  double distance = 0;
  for (size_t pair = 0; pair < table.columns / 2; ++pair) {
    const Matrix r = rotation(angle(delta, pair, table.columns));
    for (size_t p = 0; p + delta < table.rows; ++p) {
      const auto at = [&](size_t position) {
        return Matrix{{table(position, 2 * pair)}, {table(position, 2 * pair + 1)}};
      };
      distance = std::max(distance, largest_difference(r * at(p), at(p + delta)));
    }
    print(self.text(), "R(2) of pair " + std::to_string(pair) + ": the same for every p", r);
    self.result("rotations." + std::to_string(pair), r.tensor());
  }
  self.text() << "R(2) PE(p) is PE(p + 2) at all positions p, to " << short_number(distance) << "\n";
  return distance;
}

// A learned position is a row of a table, and its gradient arrives in that row.
double learned(Program& self) {
  LearnedPosition layer(6, 3);
  layer.to(float64);
  const Matrix table = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {0, 1, 1}, {1, 0, 1}};
  layer.weight = table.tensor();
  const Matrix x(2, 3, 10), y = x + stacked({row(table, 3), row(table, 4)}), g = {{1, 2, 3}, {4, 5, 6}};
  const Tensor by_library = layer(x.tensor(), 3);
  by_library.backward(g.tensor());
  const Matrix d = stacked({Matrix(3, 3), g, Matrix(1, 3)});
  const double distance =
      std::max(agree("learned positions", y, by_library), agree("their gradient", d, layer.weight.grad()));
  print(self.text(), "the table", table);
  print(self.text(), "x at the positions 3 and 4", x);
  print(self.text(), "y = x + rows 3 and 4", y);
  print(self.text(), "the gradient of the table, where that of y is (1, 2, 3), (4, 5, 6)", d);
  self.result("learned.output", y.tensor());
  self.result("learned.gradient", layer.weight.grad());
  return distance;
}

// Products of one query and one key at positions i and j: [5, 5].
Matrix rotary(Program& self, double& distance) {
  const Matrix q = {{1, 0, 1, 1}}, k = {{1, 1, 0, 2}};
  Matrix products(5, 5);
  for (size_t i = 0; i < 5; ++i)
    for (size_t j = 0; j < 5; ++j) products(i, j) = (turned(q, i) * transpose(turned(k, j)))(0, 0);
  const RotaryPosition turn(4);
  const Tensor Q = turn(expand(q.tensor(), {5, 4})), K = turn(expand(k.tensor(), {5, 4}));
  distance = std::max(distance, agree("products", products, matmul(Q, t(K))));
  print(self.text(), "q", q);
  print(self.text(), "k", k);
  print(self.text(), "q turned to the position i . k turned to the position j: a row for each i", products);
  self.result("rotary", products.tensor());
  return products;
}

// The table as a map, and the product of two of its rows over their distance.
void draw_positions(Program& self) {
  constexpr size_t width = 64, farthest = 100;
  const Matrix wide = sinusoids(2 * farthest + 1, width);
  const Matrix products = row(wide, farthest) * transpose(wide);  // of the middle row with each
  std::string table, curve;
  for (size_t p = 0; p < 50; ++p)
    for (size_t c = 0; c < width; ++c) table += to_string(wide(p, c)) + (c + 1 < width ? "," : "\n");
  for (size_t p = 0; p < wide.rows; ++p)
    curve += to_string(static_cast<double>(p) - farthest) + "," + to_string(products(0, p)) + "\n";
  self.result("products", products.tensor());
  if (!self.draws()) return;
  self.write("positions.csv", table);
  self.plot("positions", kPositions);
  self.write("position_products.csv", curve);
  self.plot("position_products", kProducts);
}

}  // namespace

void positions(Program& self) {
  introduce(
      self,
      {"Positions: attention does not know the order of words, so they are told",
       "PE(p)₂ᵢ = sin(p ωᵢ)    PE(p)₂ᵢ₊₁ = cos(p ωᵢ)    ωᵢ = 1 / 10000^(2i/E)\n"
       "PE(p + δ) = R(δ) PE(p), R(δ) of pair i = [cos δωᵢ, sin δωᵢ; −sin δωᵢ, cos δωᵢ]\n"
       "learned:  y = x + W[p]\n"
       "rotary:  qᵢ and kⱼ turned by i ωₘ and j ωₘ in pair m, so that q · k depends on j − i",
       "tables of the widths 4 and 5, a learned table, one query and one key turned to five positions each",
       "an odd width ends with a sine; one rotation serves all p; diagonals of rotary products are "
       "constant"});
  std::ostream& text = self.text();
  text << "-- sinusoidal\n";
  const Matrix even = sinusoids(6, 4), odd = sinusoids(6, 5);
  double distance = std::max(agree("width 4", even, SinusoidalPosition(4).table(6, 0, float64)),
                             agree("width 5", odd, SinusoidalPosition(5).table(6, 0, float64)));
  print(text, "width 4: sin(p), cos(p), sin(p / 100), cos(p / 100)", even);
  print(text, "width 5: the last column is a sine without its cosine", odd);
  text << "\n-- a step of 2 is a rotation\n";
  distance = std::max(distance, rotations(self, even));
  text << "\n-- learned\n";
  distance = std::max(distance, learned(self));
  text << "\n-- rotary\n";
  const Matrix products = rotary(self, distance);
  double uneven = 0;
  for (size_t i = 1; i < 5; ++i)
    for (size_t j = 1; j < 5; ++j)
      uneven = std::max(uneven, std::fabs(products(i, j) - products(i - 1, j - 1)));
  text << "along each diagonal the products differ by " << short_number(uneven)
       << "\n\nthe library gives the same, to " << short_number(distance) << "\n";
  self.result("table", even.tensor());
  self.result("odd", odd.tensor());
  self.result("uneven", uneven);
  draw_positions(self);
  conclude(self, "q at 0 and k at 1 give " + short_number(products(0, 1)) +
                     ", and so do q at 3 and k at 4, " + short_number(products(3, 4)) +
                     "; with k four places later they give " + short_number(products(0, 4)) +
                     ": only j - i counts, not i and j themselves.");
}

namespace {

double cosine(const Matrix& a, const Matrix& b) {
  const auto dot = [](const Matrix& u, const Matrix& v) { return (u * transpose(v))(0, 0); };
  return dot(a, b) / std::sqrt(dot(a, a) * dot(b, b));
}

}  // namespace

void context(Program& self) {
  introduce(
      self,
      {"Context: one word in two sentences",
       "zᵢ = Σⱼ softmaxⱼ(xᵢ · xⱼ / √d) xⱼ    cos(a, b) = a · b / (|a| |b|)",
       "\"the river bank\" and \"the money bank\"; an embedding is a row of a table, whatever stands around",
       "\"bank\": the cosine between its two vectors, before self-attention and after"});
  std::ostream& text = self.text();
  const Tokens dictionary = {"the", "river", "money", "bank"};
  const Matrix table = {{0, 0, 1}, {3, 0, 0}, {0, 3, 0}, {1, 1, 0}};
  print(text, "the table: the, river, money, bank; columns: water, money, grammar", table);
  const Embedding embedding(table.tensor());
  std::vector<Matrix> before, after;
  double distance = 0;
  for (const size_t word : {1, 2}) {
    const std::string& name = dictionary[word];
    const Tokens words = {"the", name, "bank"};
    const Matrix x = stacked({row(table, 0), row(table, word), row(table, 3)});
    const Forward y = forward(x, x, x);
    const Tensor X = embedding(tensor({0, static_cast<int64_t>(word), 3}, int64));
    const AttentionResult by_library = F::scaled_dot_product_attention(X, X, X, {.need_weights = true});
    distance = std::max({distance, agree("embeddings", x, X), agree("weights", y.weights, by_library.weights),
                         agree("the output", y.output, by_library.output)});
    text << "\n-- the " << name << " bank\n";
    print(text, "X", x);
    print(text, "weights", y.weights);
    print(text, "output", y.output);
    before.push_back(row(x, 2));
    after.push_back(row(y.output, 2));
    self.result(name + ".weights", y.weights.tensor());
    self.result(name + ".output", y.output.tensor());
    draw(self, y.weights.tensor(), words, words, "weights_" + name + ".svg");
  }
  const double same = cosine(before[0], before[1]), apart = cosine(after[0], after[1]);
  text << "\n-- \"bank\" in both\n";
  print(text, "before: its embedding, next to the river", before[0]);
  print(text, "before: its embedding, next to money", before[1]);
  text << "cosine " << short_number(same) << "\n";
  print(text, "after: next to the river", after[0]);
  print(text, "after: next to money", after[1]);
  text << "cosine " << short_number(apart) << "\n\nthe library gives the same, to " << short_number(distance)
       << "\n";
  self.result("cosine.before", same);
  self.result("cosine.after", apart);
  conclude(self, "before, \"bank\" is " + row_text(before[0], 0) + " in both sentences, cosine " +
                     short_number(same) + "; after, it is " + row_text(after[0], 0) + " by the river and " +
                     row_text(after[1], 0) + " next to money, cosine " + short_number(apart) +
                     ": its neighbours have given it a meaning.");
}

}  // namespace program
