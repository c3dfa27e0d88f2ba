#include "examples/by_hand/pooling.h"

#include <heed.h>
#include <heed/text.h>
#include <heed/view.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <ostream>

#include "examples/by_hand/by_hand.h"

namespace program {

using namespace heed;

namespace {

// A way to f(x). It gets the query as a [1, 1] that gradients flow to.
struct Way {
  std::string key, name;
  std::function<AttentionResult(const Tensor& x, const Tensor& keys, const Tensor& values)> pool;
};

// -(x - k)^2 / 2 = (x, 1) . (k, -k^2 / 2) - x^2 / 2, and softmax does not see x^2 / 2, which is the same for
// all keys. The square root of 2 makes up for that in the scaled score.
Tensor as_query(const Tensor& x) { return std::sqrt(2.0) * cat({x, ones({1, 1}, float64)}, 1); }
Tensor as_keys(const Tensor& k) { return cat({k, -0.5 * square(k)}, 1); }

// One head that projects nothing.
MultiheadAttention bare_head() {
  const Tensor one = eye(2, -1, float64);
  MultiheadAttention layer(2, 1, {.bias = false});
  layer.to(float64);
  layer.in_proj_weight = cat({one, one, one});
  layer.out_proj.weight = one;
  return layer;
}

std::vector<Way> ways() {
  return {
      {"kernel", "kernel weights",
       [](const Tensor& x, const Tensor& k, const Tensor& v) -> AttentionResult {
         const Tensor K = kernel_value(SmoothingKernel::gaussian, squared_distances(x, k, 1));
         const Tensor weights = K / sum(K, -1, true);
         return {attention_pool(weights, v), weights};
       }},
      {"softmax", "softmax weights",
       [](const Tensor& x, const Tensor& k, const Tensor& v) -> AttentionResult {
         const Tensor weights = softmax(-0.5 * square(x - t(k)), -1);
         return {attention_pool(weights, v), weights};
       }},
      {"regression", "NadarayaWatson",
       [](const Tensor& x, const Tensor& k, const Tensor& v) -> AttentionResult {
         const NadarayaWatson regression({.dtype = float64});
         return {regression(x, k, v), regression.weights(x, k)};
       }},
      {"scaled_dot", "AttentionPooling, scaled dot score",
       [](const Tensor& x, const Tensor& k, const Tensor& v) {
         return AttentionPooling(ScaledDotScore())(as_query(x), as_keys(k), v);
       }},
      {"multi_head", "MultiheadAttention, one head",
       [](const Tensor& x, const Tensor& k, const Tensor& v) -> AttentionResult {
         const Tensor wide = cat({v, zeros(v.shape(), float64)}, 1);  // its values have the width of queries
         const auto y = bare_head()(as_query(x), as_keys(k), wide, AttentionOptions{.need_weights = true});
         return {narrow(y.output, 1, 0, 1), y.weights};
       }}};
}

}  // namespace

void gaussian(Program& self) {
  introduce(
      self,
      {"The Gaussian kernel is a softmax, and one pooling serves kernel regression and attention",
       "K(u) = exp(−u² / 2)    K(x − xᵢ) / Σⱼ K(x − xⱼ) = softmaxᵢ(−(x − xᵢ)² / 2) = αᵢ\n"
       "f(x) = Σᵢ αᵢ yᵢ    f′(x) = Σᵢ αᵢ (xᵢ − x) (yᵢ − f(x))\n"
       "−(x − xᵢ)² / 2 = (x, 1) · (xᵢ, −xᵢ² / 2) − x² / 2, and softmax does not see −x² / 2: a dot score",
       "five points (xᵢ, yᵢ), one query x; weights, their mean of the y, and its slope in x, six ways",
       "two columns of weights that are the same, and six rows with the same f and f′"});
  std::ostream& text = self.text();
  const double query = 1;
  const Matrix x = {{0}, {0.5}, {1.5}, {3}, {4}}, y = {{1}, {2}, {0}, {4}, {3}};
  Matrix kernel(1, 5), scores(1, 5);
  double total = 0;
  for (size_t i = 0; i < 5; ++i) {
    scores(0, i) = -(query - x(i, 0)) * (query - x(i, 0)) / 2;
    total += kernel(0, i) = std::exp(scores(0, i));
  }
  const Matrix of_kernel = 1 / total * kernel, of_softmax = softmax_rows(scores);
  Table table({"i", "x_i", "y_i", "K(x - x_i)", "K / sum K", "-(x - x_i)^2/2", "softmax", "difference"});
  Tokens names;
  double mean = 0, slope = 0;
  for (size_t i = 0; i < 5; ++i) {
    mean += of_kernel(0, i) * y(i, 0);
    names.push_back("x = " + short_number(x(i, 0)));
    table.add({std::to_string(i + 1), short_number(x(i, 0)), short_number(y(i, 0)),
               short_number(kernel(0, i)), short_number(of_kernel(0, i)), short_number(scores(0, i)),
               short_number(of_softmax(0, i)), short_number(std::fabs(of_kernel(0, i) - of_softmax(0, i)))});
  }
  for (size_t i = 0; i < 5; ++i) slope += of_kernel(0, i) * (x(i, 0) - query) * (y(i, 0) - mean);
  text << "x = " << query << ", x_i [5], y_i [5], weights [1, 5]\n\n" << table.to_string() << "\n\n";

  Table functions({"f of", "f(1)", "f'(1)"});
  functions.add({"the formula, by hand", short_number(mean), short_number(slope)});
  double distance = 0;
  for (const Way& way : ways()) {
    const Tensor q = full({1, 1}, query, float64).requires_grad_();
    const auto [output, weights] = way.pool(q, x.tensor(), y.tensor());
    output.backward();
    distance = std::max({distance, agree("weights", of_softmax, weights),
                         agree("f", Matrix(1, 1, mean), output), agree("f'", Matrix(1, 1, slope), q.grad())});
    functions.add({way.name, short_number(output.item()), short_number(q.grad().item())});
    self.result("output." + way.key, output.item());
    self.result("gradient." + way.key, q.grad().item());
  }
  text << functions.to_string() << "\n\nall the same, to " << short_number(distance) << "\n";
  self.result("kernel", kernel.tensor());
  self.result("kernel_weights", of_kernel.tensor());
  self.result("softmax_weights", of_softmax.tensor());
  self.result("output.by_hand", mean);
  self.result("gradient.by_hand", slope);
  draw(self, of_softmax.tensor(), {"x = 1"}, names);
  conclude(self, "the weights by the kernel and by softmax are the same numbers, " + row_text(of_softmax, 0) +
                     ", so f(1) = " + short_number(mean) + " and f′(1) = " + short_number(slope) +
                     " come out of kernel regression and of multi-head attention alike.");
}

namespace {

constexpr const char* kHardChoices = R"(set title 'The mean of S hard choices tends to soft attention'
set datafile separator comma
set logscale xy
set xlabel 'choices S'
set ylabel 'distance from the soft output'
plot 'hard.csv' using 1:2 with linespoints lw 2.5 pt 7 lc '#0072B2' title 'drawn by hand', \
     'hard.csv' using 1:3 with linespoints lw 2.5 pt 7 lc '#009E73' title 'HardNormaliser', \
     'hard.csv' using 1:4 with lines lw 2 dt 2 lc '#D55E00' title 'sqrt(variance / S)'
)";

// The key on which a number u, uniform in [0, 1), falls when keys are given parts of that length.
size_t choose(const Matrix& weights, double u) {
  size_t z = 0;
  for (double below = weights(0, 0); z + 1 < weights.columns && u >= below; below += weights(0, ++z)) {
  }
  return z;
}

// How far inside the hull of the rows of `points` x is, at least, in any of 360 directions; negative outside.
double depth(const Matrix& points, const Matrix& x) {
  double least = INFINITY;
  for (int degree = 0; degree < 360; ++degree) {
    const double angle = degree * std::acos(-1.0) / 180;
    const auto along = [&](const Matrix& m, size_t i) {
      return std::cos(angle) * m(i, 0) + std::sin(angle) * m(i, 1);
    };
    double most = -INFINITY;
    for (size_t i = 0; i < points.rows; ++i) most = std::max(most, along(points, i));
    least = std::min(least, most - along(x, 0));
  }
  return least;
}

}  // namespace

void hard(Program& self) {
  introduce(
      self,
      {"Soft attention is the mean of hard choices; with K = V it stays among the keys",
       "att(q) = Σᵢ αᵢ vᵢ = E[v_z], z drawn with the probabilities αᵢ = softmaxᵢ(q · kᵢ / √d)\n"
       "the mean of S draws is off by √(variance / S), root mean square; variance = Σᵢ αᵢ |vᵢ|² − |att(q)|²\n"
       "V = K: att(q) = Σᵢ αᵢ kᵢ, a mean of the keys",
       "one query, four keys of width 2, values = keys; S hard choices, 64 times for each S, seeded",
       "ten times the accuracy costs a hundred times the choices: distance times √S stays as it is"});
  constexpr int64_t runs = 64;
  std::ostream& text = self.text();
  const Matrix q = {{0.4, 0.2}}, k = {{0, 0}, {4, 0}, {4, 3}, {0, 3}};
  const Forward y = forward(q, k, k);
  print(text, "q", q);
  print(text, "K = V: the corners of a rectangle", k);
  print(text, "weights", y.weights);
  print(text, "soft output = weights V", y.output);

  const Tensor Q = q.tensor(), K = k.tensor();
  const AttentionPooling soft{ScaledDotScore()};
  const AttentionResult plain = soft(Q, K),
                        pairs = soft(Q, K, clone(K));  // attention to keys; to keys and values
  const double distance = std::max(agree("plain attention", y.output, plain.output),
                                   agree("key-value attention", y.output, pairs.output));
  const double inside = depth(k, y.output);
  text << "key-value attention with the keys as values is plain attention: the library's two calls differ by "
       << short_number(largest_difference(Matrix(plain.output), Matrix(pairs.output)))
       << ",\nfrom the numbers by hand by " << short_number(distance) << "; the output lies "
       << short_number(inside) << " inside the hull of the keys\n\n";

  double variance = 0;
  for (size_t i = 0; i < 4; ++i) variance += y.weights(0, i) * (k(i, 0) * k(i, 0) + k(i, 1) * k(i, 1));
  variance -= y.output(0, 0) * y.output(0, 0) + y.output(0, 1) * y.output(0, 1);
  const auto square_of = [&](const Matrix& mean) {
    const double a = mean(0, 0) - y.output(0, 0), b = mean(0, 1) - y.output(0, 1);
    return a * a + b * b;
  };
  manual_seed(self.seed);
  Generator generator(self.seed);
  const AttentionPooling choice{ScaledDotScore(), HardNormaliser()};
  Table table({"S", "one mean by hand", "distance by hand", "by the library", "sqrt(variance/S)",
               "by hand x sqrt(S)"});
  std::string csv = "S,by_hand,by_library,expected\n";
  int64_t at = 0;
  double first = 0, last = 0;
  for (const int64_t samples : {10, 100, 1000, 10000}) {
    const double S = static_cast<double>(samples);
    double by_hand = 0, by_library = 0;
    Matrix mean(1, 2);
    for (int64_t run = 0; run < runs; ++run) {
      mean = Matrix(1, 2);
      for (int64_t s = 0; s < samples; ++s)
        mean = mean + 1 / S * row(k, choose(y.weights, generator.uniform()));
      by_hand += square_of(mean) / runs;
      const Tensor drawn = choice(expand(Q, {samples, 2}), K).output;
      by_library += square_of(Matrix(heed::mean(drawn, 0, true))) / runs;
    }
    by_hand = std::sqrt(by_hand);
    by_library = std::sqrt(by_library);
    const double expected = std::sqrt(variance / S);
    table.add({std::to_string(samples), row_text(mean, 0), short_number(by_hand), short_number(by_library),
               short_number(expected), short_number(by_hand * std::sqrt(S))});
    csv += std::to_string(samples) + "," + to_string(by_hand) + "," + to_string(by_library) + "," +
           to_string(expected) + "\n";
    if (at == 0) first = by_hand;
    last = by_hand;
    const std::string place = "rows." + std::to_string(at++) + ".";
    self.result(place + "samples", samples);
    self.result(place + "mean", mean.tensor());
    self.result(place + "by_hand", by_hand);
    self.result(place + "by_library", by_library);
    self.result(place + "expected", expected);
  }
  text << "the distance of a mean of S choices from the soft output, root mean square of " << runs
       << " means\n\n"
       << table.to_string() << "\n";
  self.result("weights", y.weights.tensor());
  self.result("output", y.output.tensor());
  self.result("plain", plain.output);
  self.result("key_value", pairs.output);
  self.result("inside", inside);
  if (self.draws()) {
    self.write("hard.csv", csv);
    self.plot("hard", kHardChoices);
  }
  conclude(self, "10 choices are off by " + short_number(first) + ", 10000 by " + short_number(last) +
                     ": the mean of hard choices tends to the soft output " + row_text(y.output, 0) +
                     ", which lies among the keys, " + short_number(inside) + " inside their hull.");
}

}  // namespace program
