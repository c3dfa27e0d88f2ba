#include "examples/complexity/growth.h"

#include <cmath>
#include <cstdio>
#include <iterator>
#include <ostream>

#include "tensor/error.h"

namespace program {

std::vector<int64_t> doubled(int64_t first, int64_t last) {
  std::vector<int64_t> lengths;
  for (int64_t T = first; T <= last; T *= 2) lengths.push_back(T);
  return lengths;
}

double exponent(const std::vector<int64_t>& lengths, const Numbers& y) {
  constexpr size_t n = 3;
  heed::check(lengths.size() >= n && y.size() == lengths.size(), "an exponent of ", y.size(), " values at ",
              lengths.size(), " lengths; it needs at least ", n, " lengths, and a value for each");
  const size_t first = lengths.size() - n;
  double x_mean = 0, y_mean = 0, above = 0, below = 0;
  for (size_t i = first; i < first + n; ++i) {
    x_mean += std::log(static_cast<double>(lengths[i])) / n;
    y_mean += std::log(y[i]) / n;
  }
  for (size_t i = first; i < first + n; ++i) {
    const double x = std::log(static_cast<double>(lengths[i])) - x_mean;
    above += x * (std::log(y[i]) - y_mean);
    below += x * x;
  }
  return above / below;
}

void print_row(std::ostream& out, const std::string& name, const std::vector<std::string>& columns,
               const std::string& more) {
  char text[64];
  std::snprintf(text, sizeof text, "  %-24s", name.c_str());
  out << text;
  for (const std::string& column : columns) {
    std::snprintf(text, sizeof text, "%10s", column.c_str());
    out << text;
  }
  out << (more.empty() ? "" : "   ") << more << '\n';
}

std::string compared_with_theory(double fitted, double theory) {
  char text[160];
  std::snprintf(
      text, sizeof text, "T^%.2f   theory T^%g%s", fitted, theory,
      std::fabs(fitted - theory) > 0.3 ? "   off: something else kept the machine busy, or T is short" : "");
  return text;
}

std::vector<Numbers> scaled(std::vector<Numbers> lines, double factor) {
  for (Numbers& line : lines)
    for (double& value : line) value *= factor;
  return lines;
}

void plot_lines(Program& self, const std::string& file, const std::string& title, const std::string& y,
                const std::vector<int64_t>& lengths, const std::vector<std::string>& names,
                const std::vector<Numbers>& values, const Numbers& exponents) {
  if (!self.draws()) return;
  std::string table = "T", plot;
  for (const std::string& name : names) table += "," + name;
  for (size_t i = 0; i < lengths.size(); ++i) {
    table += "\n" + std::to_string(lengths[i]);
    for (const Numbers& line : values) table += "," + short_number(line[i]);
  }
  self.write(file + ".csv", table + "\n");
  const char* const colors[] = {"#0072B2", "#D55E00", "#009E73"};
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string color = std::string(" linecolor '") + colors[i % std::size(colors)] + "'";
    plot += std::string(i ? ", " : "plot ") + "'" + file +
            ".csv' every ::1 using 1:" + std::to_string(i + 2) + " with linespoints lw 2 pt 7" + color +
            " title '" + names[i] + "'";
    if (exponents.empty()) continue;
    plot += ", " + heed::to_string(values[i].back()) + " * (x / " + std::to_string(lengths.back()) +
            ".0) ** " + heed::to_string(exponents[i]) + " with lines dashtype 2" + color + " title 'T^" +
            short_number(exponents[i]) + "'";
  }
  self.plot(file, "set datafile separator comma\nset title '" + title +
                      "'\nset xlabel 'length T'\nset ylabel '" + y + "'\nset logscale x 2\n" +
                      (exponents.empty() ? "set yrange [0:1.05]\n" : "set logscale y\nset format y '%g'\n") +
                      "set key below horizontal\n" + plot + "\n");
}

}  // namespace program
