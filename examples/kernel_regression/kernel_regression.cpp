// Kernel regression as attention, from the mean of all values to a kernel whose width is learned.
//
//   f(q) = sum_i alpha(q, k_i) v_i          a query q against the keys k_i = x_i, whose values are v_i = y_i
//
//   average   alpha = 1 / n                               every key counts the same
//   fixed     alpha = softmax_i(-(q - k_i)^2 / 2)         nearer keys count more; nothing is learned
//   learned   alpha = softmax_i(-((q - k_i) w)^2 / 2)     w says how near is near: 1/w is the kernel's width
//
// w is learned by gradient descent on the error of predicting each point from all the others. Were a point
// among its own keys, it would be predicted best by itself alone, with w without bound. Left out, the
// training loss is leave-one-out cross-validation.

#include <heed.h>
#include <heed/files.h>
#include <heed/view.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "examples/kernel_regression/pictures.h"
#include "examples/kernel_regression/report.h"
#include "examples/kernel_regression/search.h"
#include "examples/shared/program.h"

using namespace heed;
using namespace program;

namespace {

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

Data from_csv(Program& self, const std::string& path, const std::string& x, const std::string& y,
              bool skip_bad) {
  const CsvTable table = read_csv(path, {.columns = {x, y}, .skip_bad = skip_bad, .dtype = float64});
  if (table.skipped > 0) self.text() << table.skipped << " rows of " << path << " were skipped\n";
  self.result("data.skipped", table.skipped);
  const int64_t rows = table.values.size(0);
  check(rows >= 3, path, ": has ", rows, " rows of data; at least 3 are needed");
  const Tensor order = argsort(select(table.values, 1, 0));
  const Tensor sorted = index_select(table.values, 0, order);
  Data data{{path.substr(path.rfind('/') + 1), table.names[0], table.names[1]}, {}, {}, {}, {}};
  data.x = select(sorted, 1, 0).to_vector<double>();
  data.y = select(sorted, 1, 1).to_vector<double>();
  check(data.x.front() < data.x.back(), path, ", column \"", data.labels.x, "\": every x is ", data.x.front(),
        ", so x tells nothing about y; choose another column by --x");
  for (const Numbers* values : {&data.x, &data.y}) {
    const auto [least, most] = std::minmax_element(values->begin(), values->end());
    check(*least > -1e150 && *most < 1e150 && (*least == *most || *most - *least > 1e-140), path,
          ", column \"", values == &data.x ? data.labels.x : data.labels.y, "\": numbers from ", *least,
          " to ", *most, " cannot be squared in 64 bits; choose other units");
  }
  return data;
}

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

// The queries whose attention weights are shown: the test set, or 60 places between neighbours, evenly
// through the data.
Numbers queries_for(const Data& data) {
  Numbers queries = data.test_x;
  const size_t last = data.x.size() - 1, count = std::min<size_t>(60, last);
  for (size_t i = 0; data.test_x.empty() && i < count; ++i) {
    const size_t at = (2 * i + 1) * last / (2 * count);
    queries.push_back(data.x[at] + 0.5 * (data.x[at + 1] - data.x[at]));
  }
  return queries;
}

void draw(Program& self, const Data& data, const LeaveOneOut& points, const std::vector<Model>& models,
          const Search& search, double start, const HeatMap& before, const HeatMap& after, double query,
          const Numbers& weights, double answer) {
  const double low = data.x.front(), range = data.x.back() - low;
  Numbers curve_x;
  for (int i = 0; i <= 400; ++i) curve_x.push_back(low + range * (i / 400.0));
  std::vector<Curve> curves;
  for (const Model& m : models)
    curves.push_back({m.name + (m.w == 0 ? "" : ", w = " + short_number(m.w)), points.predict(curve_x, m.w)});
  if (!data.test_x.empty()) curves.push_back({"without noise", truth(column(curve_x)).to_vector<double>()});
  const auto titled = [&](const std::string& what) {
    return Labels{what + ": " + data.labels.title, data.labels.x, data.labels.y};
  };
  draw_fits(self, titled("Kernel regression"), data.x, data.y, curve_x, curves);
  draw_heat_maps(self, data.labels, before, start, after, models[2].w);
  draw_losses(self, search);
  draw_query(self, titled("One query against all keys"), data.x, data.y, weights, query, answer);
}

// A step of learning: the leave-one-out loss from the parameter to the number, and the gradients back.
std::string loss_graph(const Data& data, double w) {
  const NadarayaWatson model({.w = w, .learn = true, .dtype = float64});
  const auto part = [](const Numbers& all) {
    return column({all.begin(), all.begin() + std::min<long>(1000, std::ssize(all))});
  };
  const Tensor x = part(data.x), y = part(data.y);
  Tape tape;
  tape.name("", model);
  const Tensor loss = F::mse_loss(model(x, x, y, OwnPoint::exclude), y);
  tape.name("loss", loss);
  loss.backward();
  return tape_svg(tape);
}

}  // namespace

int main(int argc, char** argv) {
  Program self(
      "kernel_regression",
      "Kernel regression as attention: learns the width of a Gaussian kernel on built-in data or your own.");
  std::string csv, x, y;
  self.option("--csv", csv, "Read the data from this file instead");
  self.option("--x", x, "Its column of x, by name or number (default: the first)", "a column");
  self.option("--y", y, "Its column of y (default: the second)", "a column");
  bool skip_bad = false;
  self.flag("--skip-bad", skip_bad, "Skip the rows of the file that cannot be used, and count them");

  return self.run(argc, argv, [&] {
    check(!csv.empty() || (x.empty() && y.empty() && !skip_bad),
          "--x, --y and --skip-bad are for a --csv file; give one");
    const Data data = csv.empty() ? built_in(self.seed) : from_csv(self, csv, x, y, skip_bad);
    if (self.draws()) self.make_folder();
    const LeaveOneOut points(data.x, data.y);
    const Search search = search_width(data.x, data.y, points);
    const std::vector<Model> models = {evaluate(data, points, "average", "mean of all", 0, 0),
                                       evaluate(data, points, "fixed", "fixed kernel", 0, 1),
                                       evaluate(data, points, "learned", "learned kernel", 1, search.w)};
    const Model start = evaluate(data, points, "start", "where it starts", 1, search.descents[0].start);
    const double w = search.w;
    std::ostream& text = self.text();
    text << data.labels.title << ": " << data.x.size() << " points (" << data.labels.x << ", "
         << data.labels.y << ")\n";
    print_task(text, data);
    print_models(text, data, {models[0], models[1], start, models[2]});
    print_width(text, points, search);
    if (data.x.size() <= 1000) print_kernels(text, data, w);

    // Before learning a query looks a little at many keys, afterwards much at a few.
    const Numbers queries = queries_for(data);
    const HeatMap before = heat_map(queries, data.x, start.w), after = heat_map(queries, data.x, w);
    text << "\nrow entropy of the attention weights: " << short_number(before.entropy) << " at the start, "
         << short_number(after.entropy) << " learned: a query looks at about "
         << short_number(std::exp(before.entropy)) << " keys, then at "
         << short_number(std::exp(after.entropy)) << "\n";

    // One query, key by key: attention pooling.
    const double query = queries[queries.size() / 2];
    const Tensor alpha = kernel_weights(column({query}), column(data.x), SmoothingKernel::gaussian,
                                        full({}, w, float64));  // [1, n]
    const double answer = attention_pool(alpha, column(data.y)).item();
    const Numbers weights = alpha.to_vector<double>();
    print_query(self, data, weights, query, w, answer);
    print_gain(text, data, start, models[2]);

    self.result("data.n", static_cast<int64_t>(data.x.size()));
    for (const Model& m : {models[0], models[1], start, models[2]}) {
      if (m.w != 0) self.result(m.key + ".w", m.w);
      self.result(m.key + ".training_mse", m.score.training);
      self.result(m.key + ".loo_mse", m.score.loss);
      if (!data.test_x.empty()) self.result(m.key + ".test_mse", m.test_mse);
    }
    self.result("learned.bandwidth", 1 / w);
    self.result("fixed.entropy", heat_map(queries, data.x, 1).entropy);
    self.result("start.entropy", before.entropy);
    self.result("learned.entropy", after.entropy);
    self.result("grid.w", search.grid_w);
    self.result("grid.loo_mse", search.grid_loss);

    if (self.draws()) {
      write_predictions(self, data, points, models);
      self.write_picture("graph.svg", loss_graph(data, w));
      draw(self, data, points, models, search, start.w, before, after, query, weights, answer);
    } else {
      text << "\nGive --out DIR for the pictures and the predictions.\n";
    }
  });
}
