#include "examples/shared/loss_picture.h"

#include <algorithm>
#include <cmath>

#include "tensor/error.h"
#include "tensor/utf8.h"

using heed::LossCurve;

namespace program {

void draw_losses(Program& self, const std::string& file, const std::vector<LossCurve>& curves) {
  const int64_t max_points = curves.size() > 4 ? 50 : 200;  // of one curve
  std::string data, plot;
  double lowest = INFINITY, highest = 0;
  size_t block = 0;
  const auto add = [&](const std::string& title, const std::string& style, const std::vector<int64_t>& steps,
                       const std::vector<double>& values, int64_t points) {
    std::string rows;
    const auto n = std::ssize(steps);
    for (int64_t point = 0; point < points; ++point) {
      double sum = 0;
      int64_t count = 0, last = 0;
      for (int64_t i = point * n / points; i < (point + 1) * n / points; ++i) {
        const auto at = static_cast<size_t>(i);
        if (!std::isfinite(values[at])) continue;
        sum += values[at], ++count, last = steps[at];
      }
      if (count == 0) continue;
      const double mean = sum / static_cast<double>(count);
      lowest = std::min(lowest, mean), highest = std::max(highest, mean);
      rows += std::to_string(last) + "," + heed::to_string(mean) + "\n";
    }
    if (rows.empty()) return;
    data += rows + "\n\n";
    plot += (plot.empty() ? "plot '" : ", \\\n  '") + file + ".csv' index " + std::to_string(block++) +
            " using 1:2 " + style + " title '" + heed::replaced(title, "'", "''") + "'";
  };
  for (size_t i = 0; i < curves.size(); ++i) {
    const LossCurve& curve = curves[i];
    const std::string name = curve.name.empty() ? "training" : curve.name;
    // Seven colors, then the same with dashes.
    const std::string color = " linetype " + std::to_string(i + 1) + " dashtype " + std::to_string(i / 7 + 1);
    const auto n = std::ssize(curve.steps);
    add(name, "with lines linewidth 2" + color, curve.steps, curve.losses, std::min(n, max_points));
    add(curve.name.empty() ? "validation" : name + ", validation", "with points pointtype 7" + color,
        curve.steps, curve.validations, n);
  }
  if (plot.empty()) return;
  self.write(file + ".csv", data);
  self.plot(file, std::string("set datafile separator ','\nset title 'Loss'\nset xlabel 'step'\n"
                              "set ylabel 'loss'\nset xrange [0:*]\n") +
                      (lowest > 0 && highest / lowest > 20 ? "set logscale y\n" : "") +
                      "set key below horizontal\n" + plot + "\n");
}

}  // namespace program
