#include "examples/kernel_regression/pictures.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "nn/attention/kernel_regression.h"
#include "tensor/create.h"

namespace program {
namespace {

using namespace heed;

// A text for gnuplot: in single quotes, on one line.
std::string quote(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text)
    quoted += c == '\'' ? "''" : std::string(1, static_cast<unsigned char>(c) < 32 ? ' ' : c);
  return quoted + "'";
}

std::string titles(const Labels& labels) {
  return "set title " + quote(labels.title) + " noenhanced\nset xlabel " + quote(labels.x) +
         " noenhanced offset 0,0.4\nset ylabel " + quote(labels.y) + " noenhanced\n";
}

std::string row(std::initializer_list<double> values) {
  std::string line;
  for (const double value : values) line += (line.empty() ? "" : ",") + to_string(value);
  return line + "\n";
}

constexpr const char* kComma = "set datafile separator comma\n";
// Okabe and Ito's colours, told apart by colour-blind readers too.
constexpr const char* kColours[] = {"#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"};

}  // namespace

HeatMap heat_map(const Numbers& queries, const Numbers& keys, double w) {
  const Tensor all_keys = column(keys);
  const size_t n = keys.size(), each = (n + 199) / 200, columns = (n + each - 1) / each;
  HeatMap map{queries, Numbers(columns), {}, static_cast<int64_t>(n), 0};
  for (size_t j = n; j-- > 0;) map.keys[j / each] = keys[j];
  const NoGrad guard;
  for (const double query : queries) {  // one by one, so that a million keys fit
    const Numbers weights =
        kernel_weights(column({query}), all_keys, SmoothingKernel::gaussian, full({}, w, float64))
            .to_vector<double>();
    map.rows.emplace_back(columns);
    for (size_t j = 0; j < n; ++j) {
      map.rows.back()[j / each] += weights[j];
      if (weights[j] > 0)
        map.entropy -= weights[j] * std::log(weights[j]) / static_cast<double>(queries.size());
    }
  }
  return map;
}

void draw_fits(Program& self, const Labels& labels, const Numbers& x, const Numbers& y,
               const Numbers& curve_x, const std::vector<Curve>& curves) {
  // Of many points every so-many-th.
  std::string points = "x,y\n";
  const size_t each = (x.size() + 1999) / 2000;
  for (size_t i = 0; i < x.size(); i += each) points += row({x[i], y[i]});
  self.write("fits_points.csv", points);

  std::string lines = "x";
  for (const Curve& curve : curves) lines += ",\"" + curve.name + "\"";
  lines += "\n";
  for (size_t i = 0; i < curve_x.size(); ++i) {
    lines += to_string(curve_x[i]);
    for (const Curve& curve : curves) lines += "," + to_string(curve.y[i]);
    lines += "\n";
  }
  self.write("fits.csv", lines);

  const char* styles[] = {"lw 2 dt 2 lc '#777777'", "lw 2.5 lc '#E69F00'", "lw 3 lc '#0072B2'",
                          "lw 1.5 dt 3 lc '#000000'"};
  std::string plot = kComma + titles(labels) +
                     "set key below horizontal title ' '\nplot 'fits_points.csv' every ::1 "
                     "with points pt 7 ps " +
                     (x.size() > 500  ? "0.3"
                      : x.size() > 20 ? "0.6"
                                      : "1.1") +
                     " lc '#b0b0b0' title 'data" +
                     (each > 1 ? ", every " + std::to_string(each) + "th" : "") + "'";
  for (size_t i = 0; i < curves.size(); ++i)
    plot += ", \\\n  'fits.csv' every ::1 using 1:" + std::to_string(i + 2) + " with lines " +
            styles[i % std::size(styles)] + " title " + quote(curves[i].name);
  self.plot("fits", plot + "\n");
}

void draw_heat_maps(Program& self, const Labels& labels, const HeatMap& before, double w_before,
                    const HeatMap& after, double w_after) {
  double largest = 0;
  for (const HeatMap* map : {&before, &after})
    for (const Numbers& weights : map->rows)
      largest = std::max(largest, *std::max_element(weights.begin(), weights.end()));

  const auto tics = [](const char* axis, const Numbers& values) {
    const size_t count = std::min<size_t>(values.size(), 6);
    std::string text;
    for (size_t i = 0; i < count; ++i) {
      const size_t at = count < 2 ? 0 : i * (values.size() - 1) / (count - 1);
      char label[32];
      std::snprintf(label, sizeof label, "'%.3g' %zu", values[at], at);
      text += (i ? ", " : "") + std::string(label);
    }
    return std::string("set ") + axis + "tics (" + text + ")\n";
  };
  const auto draw = [&](const std::string& file, const HeatMap& map, double w, const std::string& when) {
    std::string table;
    for (const Numbers& weights : map.rows) {
      std::string line;
      for (const double weight : weights) line += (line.empty() ? "" : ",") + short_number(weight);
      table += line + "\n";
    }
    self.write(file + ".csv", table);
    const size_t columns = map.keys.size();
    const bool thinned = static_cast<size_t>(map.key_count) > columns;
    const std::string joined =
        thinned ? " (" + std::to_string(map.key_count) + " keys in " + std::to_string(columns) + " columns)"
                : "";
    self.plot(file, kComma +
                        titles({"Attention weights " + when + ": w = " + short_number(w),
                                "key: " + labels.x + joined, "query: " + labels.x}) +
                        "set cblabel 'weight; each row sums to 1'\nset cbrange [0:" + to_string(largest) +
                        "]\nset palette defined (0 '#f7fbff', 0.5 '#6baed6', 1 '#08306b')\nunset grid\nset "
                        "border 15\nset tics out\nset xrange [-0.5:" +
                        std::to_string(columns) + "-0.5]\nset yrange [" + std::to_string(map.rows.size()) +
                        "-0.5:-0.5]\n" + tics("x", map.keys) + tics("y", map.queries) + "plot '" + file +
                        ".csv' matrix with image pixels notitle\n");
  };
  draw("attention_before", before, w_before, "before learning");
  draw("attention_after", after, w_after, "after learning");
}

void draw_losses(Program& self, const Search& search) {
  std::string steps = "start,step,w,loss\n";
  constexpr size_t kWays = 3;  // over the landscape; more would hide it
  std::string descents, ways;
  for (size_t i = 0; i < search.descents.size(); ++i) {
    const Descent& descent = search.descents[i];
    for (size_t step = 0; step < descent.ws.size(); ++step)
      steps += row({double(i), double(step), descent.ws[step], descent.losses[step]});
    const std::string mine = "($1==" + std::to_string(i) + " ? ";
    const std::string colour = kColours[i % std::size(kColours)];
    const std::string name = "from w = " + short_number(descent.ws[0]) + ", " + descent.from;
    descents += std::string(i ? ", \\\n" : "") + "  'loss.csv' every ::1 using " + mine +
                "$2 : NaN):4 with lines lw 2.5 lc '" + colour + "' title " + quote(name);
    if (i < kWays)
      ways += ", \\\n  'loss.csv' every ::1 using " + mine + "$3 : NaN):4 with points pt 7 ps 0.5 lc '" +
              colour + "' title " + quote("descent " + name);
  }
  self.write("loss.csv", steps);
  self.plot("loss",
            kComma + titles({"Learning w by gradient descent", "step", "leave-one-out loss, best so far"}) +
                "set key below horizontal title ' '\nplot \\\n" + descents + "\n");

  std::string grid = "w,leave_one_out,training\n";
  for (size_t i = 1; i < search.grid.size(); ++i)
    grid += row({search.grid[i], search.loss[i], search.training[i]});
  self.write("landscape.csv", grid);
  // From where the loss leaves the flat end to where it reaches the other.
  const auto& loss = search.loss;
  const double some =
      1e-3 * (*std::max_element(loss.begin(), loss.end()) - *std::min_element(loss.begin(), loss.end()));
  size_t first = 1, last = loss.size() - 1;
  while (first + 1 < last && std::abs(loss[first + 1] - loss[0]) <= some) ++first;
  while (last > first + 1 && std::abs(loss[last - 1] - loss.back()) <= some) --last;
  double left = std::min(search.grid[first], search.w), right = std::max(search.grid[last], search.w);
  for (const Descent& descent : search.descents)
    for (const double w : descent.ws) {
      left = std::min(left, w);
      right = std::max(right, w);
    }
  self.plot("landscape",
            kComma +
                titles({"A point among its own keys is memorised as w grows; left out, it judges w",
                        "w = 1 / width of the kernel", "mean squared error"}) +
                "set logscale x\nset xrange [" + to_string(left / 2) + ":" + to_string(2 * right) +
                "]\nset key below horizontal title ' '\nset arrow from " + to_string(search.w) +
                ", graph 0 to " + to_string(search.w) +
                ", graph 1 nohead lw 1 dt 2 lc '#333333'\nset label " +
                quote("w = " + short_number(search.w)) + " at " + to_string(search.w) +
                ", graph 0.96 offset 0.6,0\nplot 'landscape.csv' every ::1 using 1:2 with lines lw 2.5 lc "
                "'#000000' title "
                "'leave-one-out', \\\n  '' every ::1 using 1:3 with lines lw 2 dt 2 lc '#777777' title "
                "'training, own point kept'" +
                ways + "\n");
}

namespace {

// Rows of points whose weight is written on them: the heaviest first, none over another or over the answer.
std::string labelled(const Numbers& x, const Numbers& y, const Numbers& weights, double query,
                     double prediction) {
  const auto extent = [](const Numbers& values) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    return *most - *least;
  };
  const double wide = 0.09 * extent(x), high = 0.09 * extent(y);  // of a label
  std::vector<size_t> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return weights[a] > weights[b]; });
  std::vector<std::pair<double, double>> taken = {{query, prediction}};
  std::string rows;
  for (const size_t i : order) {
    if (weights[i] <= std::max(0.25 * weights[order[0]], 0.03)) break;
    if (std::any_of(taken.begin(), taken.end(), [&](const auto& place) {
          return std::abs(x[i] - place.first) < wide && std::abs(y[i] - place.second) < high;
        }))
      continue;
    taken.emplace_back(x[i], y[i]);
    rows += row({x[i], y[i], weights[i]});
  }
  return rows;
}

}  // namespace

void draw_query(Program& self, const Labels& labels, const Numbers& x, const Numbers& y,
                const Numbers& weights, double query, double prediction) {
  // Of many points every so-many-th, of those that count and of the others.
  const double largest = *std::max_element(weights.begin(), weights.end());
  const auto counts = [&](double weight) { return weight > 0.01 * largest; };
  const size_t heavy = static_cast<size_t>(std::count_if(weights.begin(), weights.end(), counts));
  const size_t each_heavy = (heavy + 299) / 300, each_light = (x.size() + 1999) / 2000;
  std::string table = "x,y,weight\n";
  size_t seen_heavy = 0, seen_light = 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (counts(weights[i]) ? seen_heavy++ % each_heavy == 0 : seen_light++ % each_light == 0)
      table += row({x[i], y[i], weights[i]});
  self.write("one_query.csv", table);
  const std::string q = to_string(query), f = to_string(prediction);
  self.plot("one_query", kComma + titles(labels) + "set arrow from " + q + ", graph 0 to " + q + ", " + f +
                             " nohead lw 1.5 dt 2 lc '#D55E00'\nset key below title ' ' "
                             "horizontal\nplot 'one_query.csv' every ::1 using 1:2:(0.3 + 1.7 * sqrt($3 / " +
                             to_string(largest) +
                             ")) with points pt 7 ps variable lc rgb '#900072B2' title 'values; area: the "
                             "weight of the key', \\\n  '-' using 1:2:(sprintf('%.2f', $3)) with labels "
                             "font ',15' notitle, \\\n  '-' "
                             "using 1:2 with "
                             "points pt 9 ps 1.5 lc '#D55E00' title 'the query and its answer'\n" +
                             labelled(x, y, weights, query, prediction) + "e\n" + q + "," + f + "\ne\n");
}

}  // namespace program
