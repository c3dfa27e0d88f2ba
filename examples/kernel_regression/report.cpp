#include "examples/kernel_regression/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <ostream>

#include "autograd/ops/logic.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"
#include "nn/attention/kernel_regression.h"
#include "nn/attention/pooling.h"

namespace program {

using namespace heed;

namespace {

template <class... Args>
std::string format(const char* text, Args... args) {
  char line[512];
  std::snprintf(line, sizeof line, text, args...);
  return line;
}

}  // namespace

void print_task(std::ostream& text, const Data& data) {
  text << "\nf(x) = Σᵢ α(x, xᵢ) yᵢ    α(x, xᵢ) = K((x - xᵢ) w) / Σⱼ K((x - xⱼ) w)    K(u) = exp(-u²/2)\n\n"
       << "The answer at x is a mean of the values yᵢ, and the nearer a key xᵢ the more its value counts. "
          "The mean of all looks at\nevery key alike, and the fixed kernel looks as far as its width 1/w "
          "allows. The learned one starts as wide as the data\nand finds its w by gradient descent, each "
          "point being predicted from the others alone (leave-one-out).\n"
          "What to look for: how far the error "
       << (data.test_x.empty() ? "left out" : "on points never seen, test MSE,")
       << " falls from the start to the end.\n";
}

void print_gain(std::ostream& text, const Data& data, const Model& start, const Model& learned) {
  text << "\nLearning moved w from " << short_number(start.w) << " to " << short_number(learned.w)
       << " and the leave-one-out error from " << short_number(start.score.loss) << " to "
       << short_number(learned.score.loss);
  if (!data.test_x.empty())
    text << ", that on points never seen from " << short_number(start.test_mse) << " to "
         << short_number(learned.test_mse);
  if (start.score.loss == learned.score.loss) {
    text << ": nothing is gained, one width is as good as the other.\n";
    return;
  }
  const double narrower = learned.w / start.w;
  text << ": the kernel is " << short_number(std::max(narrower, 1 / narrower)) << " times as "
       << (narrower > 1 ? "narrow" : "wide") << ".\n";
}

void print_models(std::ostream& text, const Data& data, const std::vector<Model>& models) {
  const bool test = !data.test_x.empty();
  text << format("\n%-16s %10s %12s %14s %14s%s\n", "", "parameters", "w", "training loss", "leave-one-out",
                 test ? "       test MSE" : "");
  for (const Model& m : models)
    text << format("%-16s %10d %12s %14s %14s", m.name.c_str(), m.parameters,
                   m.w == 0 ? "0" : short_number(m.w).c_str(), short_number(m.score.training).c_str(),
                   short_number(m.score.loss).c_str())
         << (test ? format("%15s", short_number(m.test_mse).c_str()) : "") << "\n";
}

void print_width(std::ostream& text, const LeaveOneOut& points, const Search& search) {
  text << "\nwidth of the kernel, 1/w: " << short_number(1 / search.w) << " (learned by gradient descent); "
       << short_number(1 / search.grid_w) << " (cross-validated on a grid of " << search.grid.size()
       << " widths, loss " << short_number(search.grid_loss) << ")\n";
  const auto [flat, nearest] = points.bounds();
  if (search.w <= flat)
    text << "No kernel predicts better than the mean: the least loss is where the kernel is flat.\n";
  if (search.w > 0.9 * nearest)
    text << "The narrower the better: the least loss is where only the nearest neighbour counts.\n";
  const double narrow = 100 * nearest;
  const auto score = points.score(narrow);
  text << "as narrow as can be, w = " << short_number(narrow) << ": training loss "
       << short_number(score.training) << ", as each "
       << (score.training < 1e-9 ? "point remembers itself" : "x remembers the mean of its own points")
       << "; leave-one-out " << short_number(score.loss) << "\n";
}

void print_kernels(std::ostream& text, const Data& data, double learned_w) {
  text << format("\n%-16s %26s %26s\n", "other kernels,", "w = 1",
                 ("w = " + short_number(learned_w)).c_str());
  text << format("%-16s %26s %26s\n", "leave-one-out", "loss (without support)", "loss (without support)");
  const Tensor x = column(data.x), y = column(data.y);
  const NoGrad guard;
  for (const SmoothingKernel kernel :
       {SmoothingKernel::gaussian, SmoothingKernel::boxcar, SmoothingKernel::epanechnikov,
        SmoothingKernel::triangular, SmoothingKernel::constant}) {
    text << format("%-16s", name_of(kernel));
    for (const double w : {1.0, learned_w}) {
      const NadarayaWatson model({.kernel = kernel, .w = w, .dtype = float64});
      const Tensor alpha = model.weights(x, x, OwnPoint::exclude);
      const Tensor errors = attention_pool(alpha, y) - y;
      const double loss = mean(errors * errors).item();
      const int64_t alone = static_cast<int64_t>(sum(to(sum(alpha, 1) == 0, float64)).item());
      text << format(" %18s (%lld)%*s", short_number(loss).c_str(), static_cast<long long>(alone),
                     5 - static_cast<int>(std::to_string(alone).size()), "");
    }
    text << "\n";
  }
  text << "without support: points whose kernel reaches no other point; their answer is 0\n";
}

void print_query(Program& self, const Data& data, const Numbers& weights, double query, double w,
                 double answer) {
  std::vector<size_t> heaviest(weights.size());
  std::iota(heaviest.begin(), heaviest.end(), 0);
  const size_t shown = std::min<size_t>(12, weights.size());
  std::partial_sort(heaviest.begin(), heaviest.begin() + static_cast<std::ptrdiff_t>(shown), heaviest.end(),
                    [&](size_t a, size_t b) { return weights[a] > weights[b]; });
  const double largest = weights[heaviest[0]];
  heaviest.resize(shown);
  std::sort(heaviest.begin(), heaviest.end());

  std::ostream& text = self.text();
  text << "\nOne query against all keys: " << data.labels.x << " = " << short_number(query)
       << ", w = " << short_number(w) << "\n"
       << format("%12s %12s %10s\n", "key", "value", "weight");
  double rest = 1;
  for (const size_t i : heaviest) {
    rest -= weights[i];
    text << format("%12s %12s %10.4f  ", short_number(data.x[i]).c_str(), short_number(data.y[i]).c_str(),
                   weights[i]);
    if (self.colour()) text << "\033[34m";
    for (int bar = 0; bar < static_cast<int>(std::round(32 * weights[i] / largest)); ++bar) text << "█";
    text << (self.colour() ? "\033[0m\n" : "\n");
  }
  if (shown < weights.size())
    text << format("%12s %12s %10.4f\n", (std::to_string(weights.size() - shown) + " others").c_str(), "",
                   std::max(rest, 0.0));
  text << "sum of weight x value: " << short_number(answer) << "\n";
}

void write_predictions(Program& self, const Data& data, const LeaveOneOut& points,
                       const std::vector<Model>& models) {
  std::string table = "set,x,y";
  for (const Model& m : models) table += "," + m.key;
  const auto add_rows = [&](const char* set, const Numbers& x, const Numbers& y, auto&& predict) {
    std::vector<Numbers> predictions;
    for (const Model& m : models) predictions.push_back(predict(m.w));
    for (size_t i = 0; i < x.size(); ++i) {
      table += std::string("\n") + set + "," + to_string(x[i]) + "," + to_string(y[i]);
      for (const Numbers& each : predictions) table += "," + to_string(each[i]);
    }
  };
  add_rows("data", data.x, data.y, [&](double w) { return points.predictions(w).without; });
  add_rows("test", data.test_x, data.test_y, [&](double w) { return points.predict(data.test_x, w); });
  self.write("predictions.csv", table + "\n");
}

}  // namespace program
