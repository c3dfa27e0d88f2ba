#include "examples/kernel_regression/search.h"

#include <heed.h>

#include <algorithm>
#include <cmath>

#include "examples/shared/program.h"

namespace program {
namespace {

using namespace heed;
using Loss = std::function<Tensor(const NadarayaWatson& model)>;

// Gradient descent from one start. The first step changes w by a tenth. A step that lowers the loss is kept
// and the next is a little longer; any other is taken back and tried shorter.
Descent descend(const Loss& loss_of, double start, int steps) {
  NadarayaWatson model({.w = start, .learn = true, .dtype = float64});
  SGD optimizer(model.parameters(), {.lr = 0});
  Descent best;
  Tensor gradient;
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    const Tensor loss = loss_of(model);
    loss.backward();
    const double w = model.w.item(), moved = std::abs(w - best.w);
    const bool lower = step == 0 || loss.item() < best.loss;
    if (lower) {
      best.w = w;
      best.loss = loss.item();
      gradient = model.w.grad();
    }
    best.ws.push_back(std::abs(best.w));
    best.losses.push_back(best.loss);
    if (gradient.item() == 0 || moved < 1e-9 * std::abs(best.w)) break;
    optimizer.set_lr(step == 0 ? 0.1 * start / std::abs(gradient.item())
                               : optimizer.lr() * (lower ? 1.3 : 0.4));
    model.w = full({1}, best.w, float64);
    model.w.set_grad(gradient);
    optimizer.step();
  }
  best.w = std::abs(best.w);  // only w^2 comes in
  return best;
}

// The standard deviation.
double spread(const std::vector<double>& x) {
  const double n = static_cast<double>(x.size());
  double mean = 0, variance = 0;
  for (const double v : x) mean += v / n;
  for (const double v : x) variance += (v - mean) * (v - mean) / n;
  return std::sqrt(variance);
}

}  // namespace

Tensor column(const std::vector<double>& values) { return from_vector(values, {std::ssize(values)}); }

Search search_width(const std::vector<double>& x, const std::vector<double>& y, const LeaveOneOut& points) {
  const size_t n = x.size();
  const int per_decade = n <= 5000 ? 64 : n <= 200'000 ? 16 : 8;
  const int steps = n <= 20'000 ? 200 : n <= 200'000 ? 40 : 12;
  const size_t deepest = n <= 20'000 ? 3 : 1;

  const auto bounds = points.bounds();
  const auto [least, most] = std::minmax_element(x.begin(), x.end());
  const double low = std::log10(1e-3 / (*most - *least)), high = std::log10(bounds.nearest);
  const int64_t count = std::max<int64_t>(static_cast<int64_t>((high - low) * per_decade), 8);
  Search search;
  {
    Progress progress("trying widths", count + 1);
    for (int64_t i = -1; i < count; ++i, progress.step()) {
      const double part = static_cast<double>(i) / static_cast<double>(count - 1);
      search.grid.push_back(i < 0 ? bounds.flat : std::pow(10, low + (high - low) * part));
      const auto score = points.score(search.grid.back());
      search.loss.push_back(score.loss);
      search.training.push_back(score.training);
    }
  }

  const std::vector<double>& loss = search.loss;
  std::vector<size_t> valleys;
  for (size_t i = 0; i < loss.size(); ++i)
    if (i > 0 && i + 1 < loss.size() && loss[i] < (1 - 1e-9) * loss[i - 1] && loss[i] <= loss[i + 1])
      valleys.push_back(i);
  std::stable_sort(valleys.begin(), valleys.end(), [&](size_t a, size_t b) { return loss[a] < loss[b]; });
  valleys.resize(std::min(valleys.size(), deepest));
  const size_t lowest = static_cast<size_t>(std::min_element(loss.begin(), loss.end()) - loss.begin());
  search.w = search.grid_w = search.grid[lowest];
  search.grid_loss = loss[lowest];

  // With few points the loss is the attention layer's own; with many the same without its n x n weights.
  const Tensor keys = column(x), values = column(y);
  const Loss loss_of = [&](const NadarayaWatson& model) {
    if (n > 256) return points.loss(model.w);
    return mean(square(model(keys, keys, values, OwnPoint::exclude) - values));
  };
  // As wide as the data are, far from where it will end: learning is to be seen. 1.06 sd(x) n^(-1/5) is the
  // usual first guess of a kernel's width.
  const double wide = 1 / spread(x), thumb = wide * std::pow(n, 0.2) / 1.06;
  std::vector<std::pair<double, std::string>> starts = {{wide, "as wide as the data"}};
  if (n <= 20'000) {
    starts.emplace_back(thumb, "the rule of thumb");
    starts.emplace_back(thumb * 8, "eight times it");
  }
  for (const size_t valley : valleys) starts.emplace_back(search.grid[valley], "a valley of the grid");
  Progress progress("descending", static_cast<int64_t>(starts.size()));
  for (const auto& [start, name] : starts) {
    search.descents.push_back(descend(loss_of, start, steps));
    search.descents.back().from = name;
    search.descents.back().start = start;
    progress.step();
  }

  double best = search.grid_loss;
  for (const Descent& descent : search.descents)
    if (const double exact = points.score(descent.w).loss; exact < best) {
      best = exact;
      search.w = descent.w;
    }
  // Where the loss is level to rounding, the smallest w: the smoothest fit.
  const double level = best + 1e-13 * (best + loss[0]);
  for (size_t i = 0; i < loss.size(); ++i)
    if (loss[i] <= level) {
      search.w = std::min(search.w, search.grid[i]);
      break;
    }
  return search;
}

}  // namespace program
