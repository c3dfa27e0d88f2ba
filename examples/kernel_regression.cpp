// Kernel regression as attention: the weights of a query over all keys are a softmax of squared distances,
// and the width of the kernel is learned by gradient descent on the leave-one-out loss.

#include <heed.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <ostream>

#include "examples/csv.h"
#include "examples/kernel_regression_pictures.h"
#include "examples/kernel_regression_search.h"
#include "examples/program.h"

using namespace heed;
using program::Numbers;
using program::Program;
using program::short_number;

namespace {

struct Data {
  program::Labels labels;
  Numbers x, y;            // sorted by x
  Numbers test_x, test_y;  // without noise; of the built-in data alone
};

Tensor column(const Numbers& values) { return from_vector(values, {static_cast<int64_t>(values.size())}); }

Tensor truth(const Tensor& x) { return 2 * sin(x) + pow(x, 0.8); }

// 50 points x uniform in [0, 5), y = 2 sin x + x^0.8 and noise of standard deviation 0.5.
Data built_in(uint64_t seed) {
  manual_seed(seed);
  Data data{{"y = 2 sin x + x^0.8 + noise, seed " + std::to_string(seed), "x", "y"}, {}, {}, {}, {}};
  data.x = (5 * rand({50}, float64)).to_vector<double>();
  std::sort(data.x.begin(), data.x.end());
  data.y = (truth(column(data.x)) + 0.5 * randn({50}, float64)).to_vector<double>();
  for (int i = 0; i < 50; ++i) data.test_x.push_back(i / 10.0);
  data.test_y = truth(column(data.test_x)).to_vector<double>();
  return data;
}

Data from_csv(const std::string& path, const std::string& x, const std::string& y) {
  const program::Columns read = program::read_csv(path, x, y);
  check(read.x.size() >= 3, path, ": has ", read.x.size(), " rows of data; at least 3 are needed");
  std::vector<size_t> order(read.x.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return read.x[a] < read.x[b]; });
  Data data{{path.substr(path.rfind('/') + 1), read.x_name, read.y_name}, {}, {}, {}, {}};
  for (const size_t i : order) {
    data.x.push_back(read.x[i]);
    data.y.push_back(read.y[i]);
  }
  check(data.x.front() < data.x.back(), path, ": column ", read.x_name, ": all x are ", data.x.front(),
        ", so they tell nothing about y");
  for (const Numbers* values : {&data.x, &data.y})
    for (const double value : *values)
      check(std::abs(value) < 1e150, path, ": column ", values == &data.x ? read.x_name : read.y_name, ": ",
            value, " is too large to be squared; choose other units");
  return data;
}

// The three models: the mean, a kernel of fixed width, the learned one. They differ in w alone.
struct Model {
  std::string key, name;
  int parameters;
  double w;
  LeaveOneOut::Score score;
  double test_mse = 0;
};

Model evaluate(const Data& data, const LeaveOneOut& points, const char* key, const char* name, int parameters,
               double w) {
  Model model{key, name, parameters, w, points.score(w)};
  const Numbers predictions = points.predict(data.test_x, w);
  for (size_t i = 0; i < predictions.size(); ++i) {
    const double error = predictions[i] - data.test_y[i];
    model.test_mse += error * error / static_cast<double>(predictions.size());
  }
  return model;
}

// Where the attention weights are looked at: the test set, or 60 places between neighbours evenly through the
// data.
Numbers queries_for(const Data& data) {
  Numbers queries = data.test_x;
  const size_t last = data.x.size() - 1, count = std::min<size_t>(60, last);
  for (size_t i = 0; data.test_x.empty() && i < count; ++i) {
    const size_t at = (2 * i + 1) * last / (2 * count);
    queries.push_back(data.x[at] + 0.5 * (data.x[at + 1] - data.x[at]));
  }
  return queries;
}

template <class... Args>
std::string format(const char* text, Args... args) {
  char line[512];
  std::snprintf(line, sizeof line, text, args...);
  return line;
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

// Every kernel at both widths. Where a kernel of bounded reach finds no key, it predicts 0.
void print_kernels(std::ostream& text, const Data& data, double learned_w) {
  text << format("\n%-16s %26s %26s\n", "other kernels,", "w = 1",
                 ("w = " + short_number(learned_w)).c_str());
  text << format("%-16s %26s %26s\n", "leave-one-out", "loss (without support)", "loss (without support)");
  const Tensor x = column(data.x), y = column(data.y);
  const NoGrad guard;
  for (const Kernel kernel :
       {Kernel::gaussian, Kernel::boxcar, Kernel::epanechnikov, Kernel::triangular, Kernel::constant}) {
    text << format("%-16s", name_of(kernel));
    for (const double w : {1.0, learned_w}) {
      const NadarayaWatson model({.kernel = kernel, .w = w, .dtype = float64});
      const Tensor alpha = model.weights(x, x, OwnPoint::exclude);
      const double loss = mean(square(attention_pool(alpha, y) - y)).item();
      const int64_t alone = static_cast<int64_t>(sum(to(sum(alpha, 1) == 0, float64)).item());
      text << format(" %18s (%lld)%*s", short_number(loss).c_str(), static_cast<long long>(alone),
                     5 - static_cast<int>(std::to_string(alone).size()), "");
    }
    text << "\n";
  }
}

// One query against all keys: the weights, and how they mix the values.
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

void draw(Program& self, const Data& data, const LeaveOneOut& points, const std::vector<Model>& models,
          const program::Search& search, const program::HeatMap& before, const program::HeatMap& after,
          double query, const Numbers& weights, double answer) {
  const double low = data.x.front(), range = data.x.back() - low;
  Numbers curve_x;
  for (int i = 0; i <= 400; ++i) curve_x.push_back(low + range * (i / 400.0));
  std::vector<program::Curve> curves;
  for (const Model& m : models)
    curves.push_back({m.name + (m.w == 0 ? "" : ", w = " + short_number(m.w)), points.predict(curve_x, m.w)});
  if (!data.test_x.empty()) curves.push_back({"without noise", truth(column(curve_x)).to_vector<double>()});
  const auto titled = [&](const std::string& what) {
    return program::Labels{what + ": " + data.labels.title, data.labels.x, data.labels.y};
  };
  program::draw_fits(self, titled("Kernel regression"), data.x, data.y, curve_x, curves);
  program::draw_heat_maps(self, data.labels, before, models[1].w, after, models[2].w);
  program::draw_losses(self, search);
  program::draw_query(self, titled("One query against all keys"), data.x, data.y, weights, query, answer);

  // The mean of (y - prediction)^2 over the data rows is the leave-one-out loss, over the test rows the test
  // MSE.
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
  add_rows("data, left out", data.x, data.y, [&](double w) { return points.predictions(w).without; });
  add_rows("test", data.test_x, data.test_y, [&](double w) { return points.predict(data.test_x, w); });
  self.write("predictions.csv", table + "\n");
}

}  // namespace

int main(int argc, char** argv) {
  Program self(
      "kernel_regression",
      "Kernel regression as attention: learns the width of a Gaussian kernel on built-in data or your own.");
  std::string csv, x, y;
  self.option("--csv", csv, "Read the data from this file instead");
  self.option("--x", x, "Its column of x, by name or number (default: the first)");
  self.option("--y", y, "Its column of y (default: the second)");

  return self.run(argc, argv, [&] {
    check(!csv.empty() || (x.empty() && y.empty()), "--x and --y name columns of a --csv file; give one");
    const Data data = csv.empty() ? built_in(self.seed) : from_csv(csv, x, y);
    const LeaveOneOut points(data.x, data.y);
    const program::Search search = program::search_width(data.x, data.y, points);
    const std::vector<Model> models = {evaluate(data, points, "average", "mean of all", 0, 0),
                                       evaluate(data, points, "fixed", "fixed kernel", 0, 1),
                                       evaluate(data, points, "learned", "learned kernel", 1, search.w)};
    const Model& learned = models[2];

    std::ostream& text = self.text();
    text << data.labels.title << ": " << data.x.size() << " points\n";
    print_models(text, data, models);
    text << "\nwidth of the kernel, 1/w: " << short_number(1 / learned.w)
         << " (learned by gradient descent); " << short_number(1 / search.grid_w)
         << " (cross-validated on a grid of " << search.grid.size() << " widths, loss "
         << short_number(search.grid_loss) << ")\n";
    if (learned.w <= points.bounds().flat)
      text << "No kernel predicts better than the mean: the least loss is where the kernel is flat.\n";
    if (learned.w > 0.9 * points.bounds().nearest)
      text << "The narrower the better: the least loss is where only the nearest neighbour counts.\n";
    const auto narrow = points.score(100 * learned.w);
    text << "with w a hundred times larger: training loss " << short_number(narrow.training)
         << ", as each point remembers itself; leave-one-out " << short_number(narrow.loss) << "\n";
    if (data.x.size() <= 1000) print_kernels(text, data, learned.w);

    const Numbers queries = queries_for(data);
    const auto before = program::heat_map(queries, data.x, 1),
               after = program::heat_map(queries, data.x, learned.w);
    text << "\nrow entropy of the attention weights: " << short_number(before.entropy) << " before, "
         << short_number(after.entropy) << " after: a query looks at about "
         << short_number(std::exp(before.entropy)) << " keys, then at "
         << short_number(std::exp(after.entropy)) << "\n";

    const double query = queries[queries.size() / 2];
    const Tensor alpha =
        kernel_weights(column({query}), column(data.x), Kernel::gaussian, full({}, learned.w, float64));
    const double answer = attention_pool(alpha, column(data.y)).item();
    const Numbers weights = alpha.to_vector<double>();
    print_query(self, data, weights, query, learned.w, answer);

    self.result("data.n", static_cast<int64_t>(data.x.size()));
    for (const Model& m : models) {
      if (m.w != 0) self.result(m.key + ".w", m.w);
      if (&m == &learned) self.result("learned.bandwidth", 1 / m.w);
      self.result(m.key + ".training_mse", m.score.training);
      self.result(m.key + ".loo_mse", m.score.loss);
      if (!data.test_x.empty()) self.result(m.key + ".test_mse", m.test_mse);
    }
    self.result("fixed.entropy", before.entropy);
    self.result("learned.entropy", after.entropy);
    self.result("grid.w", search.grid_w);
    self.result("grid.loo_mse", search.grid_loss);

    if (!self.draws()) {
      text << "\nGive --out DIR for the pictures and the predictions.\n";
      return;
    }
    draw(self, data, points, models, search, before, after, query, weights, answer);
  });
}
