#include "examples/playground/regression.h"

#include <cmath>

#include "examples/playground/message.h"

namespace program {

using namespace heed;

namespace {

constexpr int64_t kMostPoints = 1000, kMostPlaces = 10000;

struct PointsToFit {
  Tensor x, y;  // [n]
  SmoothingKernel kernel;

  // The mean squared error of predicting each point from all points, or from all others.
  Tensor loss(const Tensor& w, bool own) const {
    const Mask keys = own ? Mask() : Mask(eye(x.numel()) == 0);
    return F::mse_loss(attention_pool(kernel_weights(x, x, kernel, w, keys), y), y);
  }
};

SmoothingKernel kernel_of(RequestReader& request) {
  return static_cast<SmoothingKernel>(request.integer("kernel", 0, 4));
}

PointsToFit points_of(RequestReader& request, SmoothingKernel kernel) {
  const int64_t n = request.integer("n", 1, kMostPoints);
  const Tensor x = request.numbers("x", n), y = request.numbers("y", n);
  request.end();
  return {x, y, kernel};
}

// Numbers from low to high at equal ratios.
std::vector<double> at_equal_ratios(double low, double high, int64_t count) {
  check(low > 0 && high > 0, "regression: w_low is ", low, " and w_high ", high, "; both must be positive");
  return exp(linspace(std::log(low), std::log(high), count, float64)).to_vector<double>();
}

// Points around 2 sin x + x^0.8 with noise of standard deviation 0.5: their number, x and y, with three
// digits after the point, as the address of the page keeps them.
void append_points(std::vector<float>& request) {
  manual_seed(1);
  const Tensor x = sort(5 * rand({50}, float64)).values;
  const Tensor y = 2 * sin(x) + pow(x, 0.8) + 0.5 * randn({50}, float64);
  append(request, 50);
  for (const Tensor& numbers : {x, y})
    for (const double number : numbers.to_vector<double>()) append(request, std::round(1000 * number) / 1000);
}

}  // namespace

std::vector<float> regression(std::span<const float> numbers) {
  RequestReader request("regression", numbers);
  const Tensor w = full({}, request.number("w"), float64).requires_grad_();
  const SmoothingKernel kernel = kernel_of(request);
  const bool own = request.integer("own", 0, 1) == 1;
  const Tensor query = request.numbers("query", 1);
  const double low = request.number("low"), high = request.number("high");
  const int64_t count = request.integer("count", 1, kMostPlaces);
  const double w_low = request.number("w_low"), w_high = request.number("w_high");
  const int64_t w_count = request.integer("w_count", 1, kMostPlaces);
  const PointsToFit points = points_of(request, kernel);

  const Tensor loss = points.loss(w, own);
  const double gradient = loss.requires_grad() ? grad(loss, {w})[0].item() : 0;

  const NoGrad guard;
  const Tensor weights = kernel_weights(query, points.x, kernel, w);  // [1, n]
  const Tensor places = linspace(low, high, count, float64);
  std::vector<float> answer;
  append(answer, attention_pool(weights, points.y).item());
  append(answer, loss.item());
  append(answer, gradient);
  append(answer, weights);
  append(answer, attention_pool(kernel_weights(places, points.x, kernel, w), points.y));
  for (const bool with_own : {true, false})
    for (const double other : at_equal_ratios(w_low, w_high, w_count))
      append(answer, points.loss(full({}, other, float64), with_own).item());
  return answer;
}

std::vector<float> regression_learn(std::span<const float> numbers) {
  RequestReader request("regression_learn", numbers);
  const Tensor w = full({}, request.number("w"), float64).requires_grad_();
  const SmoothingKernel kernel = kernel_of(request);
  const bool own = request.integer("own", 0, 1) == 1;
  const double rate = request.number("learning rate");
  const int64_t steps = request.integer("steps", 0, kMostPlaces);
  const PointsToFit points = points_of(request, kernel);

  SGD optimizer({w}, {.lr = rate});
  std::vector<float> answer;
  for (int64_t step = 0; step <= steps; ++step) {
    const Tensor loss = points.loss(w, own);
    append(answer, w.item());
    append(answer, loss.item());
    if (step == steps || !loss.requires_grad()) continue;
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  return answer;
}

std::vector<float> regression_first() {
  std::vector<float> request = {1, 0, 0, 2.5F, -0.2F, 5.2F, 121, 0.1F, 100, 61};
  append_points(request);
  return request;
}

std::vector<float> regression_learn_first() {
  std::vector<float> request = {1, 0, 0, 0.1F, 20};
  append_points(request);
  return request;
}

}  // namespace program
