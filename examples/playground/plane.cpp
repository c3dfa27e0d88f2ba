#include "examples/playground/plane.h"

#include <cmath>
#include <numbers>

#include "examples/playground/entmax.h"
#include "examples/playground/message.h"

namespace program {

using namespace heed;

namespace {

constexpr int64_t kMostKeys = 100, kMostPixels = 200, kWidestVector = 1024, kMostDarts = 100000;
constexpr uint64_t kFurtherSeed = 1;
constexpr double kHiddenAngle = 2, kRadius = 2;  // of the rotation, in radians, and of the circle
constexpr int64_t kLearnedKeys = 5, kTasks = 32, kValueWidth = 4;

enum class PlaneScore { dot, scaled_dot, additive, bilinear, gaussian };
enum class PlaneNormalizer { softmax, sparsemax, entmax, hard };

// sum_c part(q_c, k_c) over coordinates c: [Tq, c], [Tk, c] -> [Tq, Tk]. Queries, of which there are most,
// are the last dimension, because elementwise operations are fast along it.
template <class Part>
Tensor sum_over_coordinates(const Tensor& q, const Tensor& k, const Part& part) {
  return transpose(sum(part(unsqueeze(transpose(q), 1), unsqueeze(transpose(k), 2)), 0));
}

// The score of some coordinates, [Tq, c] and [Tk, c]; an undefined W is the identity. The scaled dot product
// is divided by sqrt(d) later, when the scores of all d coordinates are known.
Tensor score_of(PlaneScore score, const Tensor& q, const Tensor& k, const Tensor& W = {}) {
  const Tensor turned = W.defined() ? matmul(q, W) : q;
  switch (score) {
    case PlaneScore::additive:
      return sum_over_coordinates(turned, k, [](const Tensor& a, const Tensor& b) { return tanh(a + b); });
    case PlaneScore::bilinear:
      return DotScore()(turned, k);
    case PlaneScore::gaussian:
      return -0.5 *
             sum_over_coordinates(q, k, [](const Tensor& a, const Tensor& b) { return square(a - b); });
    default:
      return DotScore()(q, k);
  }
}

// The keys, and what they share with each query: all but the query's place in the plane.
struct KeysInPlane {
  PlaneScore score;
  double width;
  Tensor keys, W;  // [n, 2], [2, 2]
  Tensor further;  // [1, n]: the score of the coordinates beyond the plane

  // [T, 2] -> [T, n]. A score is a sum over coordinates, and pixels differ in the first two alone.
  Tensor scores(const Tensor& queries) const {
    const Tensor all = score_of(score, queries, keys, W) + further;
    return score == PlaneScore::scaled_dot ? all / std::sqrt(width) : all;
  }
};

Tensor further_scores(PlaneScore score, int64_t n, int64_t coordinates) {
  if (coordinates == 0) return zeros({1, n}, float64);
  Generator generator(kFurtherSeed);
  const Tensor x = transpose(randn({coordinates, n + 1}, float64, &generator));  // the query and its keys
  return score_of(score, narrow(x, 0, 0, 1), narrow(x, 0, 1, n));
}

// Of hard attention the probabilities.
Tensor plane_weights(PlaneNormalizer normalizer, const Tensor& scores) {
  switch (normalizer) {
    case PlaneNormalizer::sparsemax:
      return sparsemax(scores);
    case PlaneNormalizer::entmax:
      return entmax(scores);
    default:
      return softmax(scores, -1);
  }
}

// d weight_i / d score_j: [n, n].
Tensor weight_slopes(PlaneNormalizer normalizer, const Tensor& scores) {
  const Tensor x = scores.detach().requires_grad_(), weights = plane_weights(normalizer, x);
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < x.numel(); ++i)
    rows.push_back(grad(std::vector{weights[i]}, {x}, {.retain_graph = true})[0]);
  return stack(rows, 0);
}

// - sum_i p_i log p_i
double entropy_in_nats(const Tensor& p) { return -sum(p * log(where(p > 0, p, 1))).item(); }

// The middles of the pixels of a square, row by row from the top: [pixels^2, 2].
Tensor pixel_places(double low, double high, int64_t pixels) {
  const Tensor middle = low + (arange(pixels, float64) + 0.5) * ((high - low) / static_cast<double>(pixels));
  const Tensor x = expand(middle, {pixels, pixels}),
               y = transpose(expand(flip(middle, {0}), {pixels, pixels}));
  return reshape(stack({x, y}, -1), {pixels * pixels, 2});
}

// Key and weight that a query at each place chooses: [T, 2].
Tensor chosen_keys(PlaneNormalizer normalizer, const Tensor& scores) {
  const ValuesIndices best = max(normalizer == PlaneNormalizer::hard ? HardNormaliser()(scores, Mask())
                                                                     : plane_weights(normalizer, scores),
                                 -1);
  return stack({to(best.indices, float64), best.values}, -1);
}

// Sets of keys with their queries, in the same order, and the values of the keys.
struct RotatedPoints {
  Tensor queries, keys, values;  // [B, T, 2], [B, T, 2], [B, T, 4]
};

RotatedPoints draw_rotated_points() {
  const auto circle = [](const Tensor& angle) { return kRadius * stack({cos(angle), sin(angle)}, -1); };
  const Tensor angle = 2 * std::numbers::pi * rand({kTasks, kLearnedKeys}, float64);
  return {circle(angle + kHiddenAngle), circle(angle), randn({kTasks, kLearnedKeys, kValueWidth}, float64)};
}

}  // namespace

std::vector<float> plane(std::span<const float> numbers) {
  RequestReader request("plane", numbers);
  const auto score = static_cast<PlaneScore>(request.integer("score", 0, 4));
  const auto normalizer = static_cast<PlaneNormalizer>(request.integer("normalizer", 0, 3));
  const int64_t d = request.integer("d", 2, kWidestVector), n = request.integer("n", 1, kMostKeys);
  const Tensor query = reshape(request.numbers("query", 2), {1, 2});
  const Tensor keys = reshape(request.numbers("key", 2 * n), {n, 2});
  const Tensor W = reshape(request.numbers("W", 4), {2, 2});
  const double low = request.number("low"), high = request.number("high");
  const int64_t pixels = request.integer("pixels", 1, kMostPixels);
  request.end();

  manual_seed(1);  // for the draws of hard attention
  const KeysInPlane all{score, static_cast<double>(d), keys, W, further_scores(score, n, d - 2)};
  const Tensor scores = all.scores(query)[0], weights = plane_weights(normalizer, scores);
  std::vector<float> answer;
  append(answer, scores);
  append(answer, weights);
  append(answer, weight_slopes(normalizer, scores));
  append(answer, entropy_in_nats(weights));
  append(answer, chosen_keys(normalizer, all.scores(pixel_places(low, high, pixels))));
  return answer;
}

std::vector<float> plane_darts(std::span<const float> numbers) {
  RequestReader request("plane_darts", numbers);
  const int64_t seed = request.integer("seed", 0, 1 << 24), count = request.integer("count", 1, kMostDarts);
  const int64_t n = request.integer("n", 1, kMostKeys);
  const Tensor weights = request.numbers("weight", n);
  request.end();
  check(min(weights).item() >= 0 && max(weights).item() > 0,
        "plane_darts: weights must not be negative, and one of them must be positive");

  manual_seed(static_cast<uint64_t>(seed));
  const Tensor drawn = HardNormaliser()(expand(log(weights), {count, n}), Mask());
  std::vector<float> answer;
  append(answer, sum(drawn, 0));
  return answer;
}

std::vector<float> plane_learn(std::span<const float> numbers) {
  RequestReader request("plane_learn", numbers);
  const int64_t seed = request.integer("seed", 0, 1 << 24);
  const double rate = request.number("learning rate");
  const int64_t steps = request.integer("steps", 1, 10000);
  const Tensor W = reshape(request.numbers("W", 4), {2, 2}).requires_grad_();
  request.end();

  manual_seed(static_cast<uint64_t>(seed));
  SGD optimizer({W}, {.lr = rate});
  double last_loss = 0, right = 0;
  for (int64_t step = 0; step < steps; ++step) {
    const auto [queries, keys, values] = draw_rotated_points();
    const Tensor weights = softmax(score_of(PlaneScore::bilinear, queries, keys, W), -1);  // [B, T, T]
    const Tensor loss = F::mse_loss(attention_pool(weights, values), values);
    last_loss = loss.item();
    right = mean(to(argmax(weights, -1) == arange(kLearnedKeys, int64), float64)).item();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  std::vector<float> answer;
  append(answer, W);
  append(answer, last_loss);
  append(answer, right);
  return answer;
}

std::vector<float> plane_first() {
  return {1,    0,    2,     5,                                                        // scaled dot, softmax
          0.6F, 0.8F,                                                                  // query
          1.6F, 1.1F, -1.5F, 1.3F, -1.1F, -1.5F, 1.3F, -1.2F, 0.2F, 0.3F, 1, 0, 0, 1,  // keys, W
          -3,   3,    60};
}

std::vector<float> plane_darts_first() { return {1, 100, 5, 0.5F, 0.25F, 0.125F, 0.125F, 0}; }

std::vector<float> plane_learn_first() { return {1, 0.05F, 5, 1, 0, 0, 1}; }

}  // namespace program
