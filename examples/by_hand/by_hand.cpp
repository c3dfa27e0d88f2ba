#include "examples/by_hand/by_hand.h"

#include <heed.h>
#include <heed/text.h>
#include <heed/view.h>

#include <cmath>
#include <ostream>
#include <sstream>

#include "tensor/utf8.h"

namespace program {

using namespace heed;

const Tokens kWords = {"the", "cat", "sat", "down"};
const Matrix kVectors = {{1, 0, 1}, {0, 2, 1}, {1, 1, 0}, {2, 0, 0}};

void introduce(Program& self, const Frame& frame) {
  const auto part = [&](const std::string& name, const std::string& lines) {
    self.text() << name << replaced(lines, "\n", "\n          ") << "\n";
  };
  self.text() << frame.title << "\n\n";
  part("formula   ", frame.formula);
  part("task      ", frame.task);
  part("look for  ", frame.look_for);
  self.text() << "\n";
}

void conclude(Program& self, const std::string& sentence) {
  constexpr int64_t width = 110;
  std::istringstream words(sentence);
  std::string line = "result   ";
  self.text() << "\n";
  for (std::string word; words >> word; line += " " + word)
    if (display_width(line + " " + word) > width) {
      self.text() << line << "\n";
      line = std::string(9, ' ');
    }
  self.text() << line << "\n";
}

Forward forward(const Matrix& q, const Matrix& k, const Matrix& v, const Mask& mask) {
  const Matrix scores = q * transpose(k);
  Matrix scaled = 1 / std::sqrt(static_cast<double>(q.columns)) * scores;
  if (mask.allows_all()) {
    const Matrix weights = softmax_rows(scaled);
    return {scores, scaled, weights, weights * v};
  }
  const auto tq = static_cast<int64_t>(q.rows), tk = static_cast<int64_t>(k.rows);
  const Matrix allowed(broadcast_to(mask.allowed(), {1, tq, tk})[0]);
  for (size_t i = 0; i < scaled.values.size(); ++i)
    if (allowed.values[i] == 0) scaled.values[i] = -INFINITY;
  Matrix weights = softmax_rows(scaled);
  for (size_t i = 0; i < q.rows; ++i) {
    double keys = 0;
    for (size_t j = 0; j < k.rows; ++j) keys += allowed(i, j);
    for (size_t j = 0; keys == 0 && j < k.rows; ++j) weights(i, j) = 0;  // softmax says 0 / 0
  }
  return {scores, scaled, weights, weights * v};
}

Backward backward(const Forward& y, const Matrix& q, const Matrix& k, const Matrix& v, const Matrix& g) {
  const Matrix d_weights = g * transpose(v), d_v = transpose(y.weights) * g;
  Matrix d_scaled = d_weights;
  for (size_t i = 0; i < q.rows; ++i) {
    double mean = 0;
    for (size_t j = 0; j < k.rows; ++j) mean += y.weights(i, j) * d_weights(i, j);
    for (size_t j = 0; j < k.rows; ++j) d_scaled(i, j) = y.weights(i, j) * (d_weights(i, j) - mean);
  }
  const Matrix d_scores = 1 / std::sqrt(static_cast<double>(q.columns)) * d_scaled;
  return {d_weights, d_scaled, d_scores, d_scores * k, transpose(d_scores) * q, d_v};
}

double agree(const std::string& what, const Matrix& by_hand, const Tensor& by_library) {
  constexpr double close = 1e-12;
  const double distance = largest_difference(by_hand, Matrix(by_library));
  check(distance <= close, what, " by hand and by the library differ by ", distance);
  return distance;
}

Tensor jacobian(const Tensor& output, const Tensor& input) {
  const Tensor y = flatten(output);
  std::vector<Tensor> rows;
  for (int64_t a = 0; a < y.numel(); ++a)
    rows.push_back(flatten(grad({y[a]}, {input}, {.retain_graph = true})[0]));
  return stack(rows);
}

void draw(Program& self, const Tensor& weights, const Tokens& queries, const Tokens& keys,
          const std::string& file, const Mask& mask) {
  if (!self.draws()) return;
  const AttentionMapOptions options = {.heads = weights.dim() == 3, .mask = mask};
  self.write_picture(file, attention_svg(AttentionMap(weights, queries, keys, options)));
}

}  // namespace program
