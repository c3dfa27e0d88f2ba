#include "examples/scores/scale.h"

#include <heed.h>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace program {
namespace {

using namespace heed;

constexpr int64_t kRows = 2048, kKeys = 8;
constexpr double kDead = 1e-3;  // of the half or so that a slope can be at most

struct ScoreStatistics {
  double variance, entropy;
  double jacobian, least, dead;  // of the median row; of the row with the least; share of rows below kDead
  double gradient;               // norm of the output's gradient in q, of the median row
};

double median(const Tensor& x) {
  std::vector<double> values = flatten(x).to_vector<double>();
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Queries [rows, 1, d], each against keys [rows, keys, d] of its own, whose values are numbers.
ScoreStatistics measure(const AnyScore& score, const Tensor& queries, const Tensor& keys,
                        const Tensor& values) {
  const Tensor q = queries.detach().requires_grad_();
  const AttentionPooling pooling{score};
  const auto [output, weights] = pooling(q, keys, values);
  sum(output).backward();
  const Tensor a = weights.detach(), norms = jacobian_norm(a);
  return {var(score(queries, keys)).item(),
          mean(row_entropy(a)).item(),
          median(norms),
          min(norms).item(),
          mean(to(norms < kDead, float64)).item(),
          median(sqrt(sum(square(q.grad()), -1)))};
}

constexpr const char* kSoftmaxOfScores = R"(set title 'Softmax of q . k for unit-normal q and k'
set datafile separator comma
set logscale xy
set format y '%g'
set xlabel 'width d'
set ylabel 'norm of the Jacobian of softmax, median row'
set xtics (4, 16, 64, 256, 512)
set xrange [3:700]
set key bottom left
plot 'scale.csv' using 1:2 with linespoints lw 2.5 pt 7 lc '#0072B2' title 'scaled by 1/sqrt(d)', \
     'scale.csv' using 1:3 with linespoints lw 2.5 pt 7 lc '#D55E00' title 'not scaled'
)";

}  // namespace

Tensor row_entropy(const Tensor& weights) {
  return -sum(weights * log(clamp(weights, 1e-30)), -1);  // 0 log 0 = 0
}

Tensor jacobian_norm(const Tensor& weights) {
  const Tensor identity = eye(weights.size(-1), -1, weights.dtype());
  return sqrt(sum(square(unsqueeze(weights, -1) * (identity - unsqueeze(weights, -2))), {-2, -1}));
}

void compare_scale(Program& self) {
  std::ostream& text = self.text();
  text << "s = q · k    or, scaled, s = q · k / √d    a = softmax(s)    J = ∂a/∂s    o = Σⱼ aⱼ vⱼ\n\n"
       << "q and k of d unit-normal numbers, " << kRows << " queries against " << kKeys << " keys each; log "
       << kKeys << " = " << short_number(std::log(kKeys))
       << "\nvar s: the variance of the scores; entropy: of a row of a; |J|, |∂o/∂q|: norms of the median "
          "row; least |J|: of all "
          "rows;\n|J| < 0.001: the share of rows that are dead in practice.\n"
       << "What to look for: how the slope |J| dies with the width d, and does not when s is scaled.\n\n";
  Table table({"d", "s", "var s", "entropy", "|J|", "least |J|", "|J| < 0.001", "|∂o/∂q|"});
  std::string csv = "d,scaled,unscaled\n";
  int64_t row = 0;
  manual_seed(self.seed);
  for (const int64_t d : {4, 16, 64, 256, 512}) {
    const Tensor q = randn({kRows, 1, d}, float64), k = randn({kRows, kKeys, d}, float64),
                 v = randn({kRows, kKeys, 1}, float64);
    const ScoreStatistics plain = measure(DotScore(), q, k, v), scaled = measure(ScaledDotScore(), q, k, v);
    for (const auto& [score, m] : {std::pair("q · k", plain), {"q · k / √d", scaled}}) {
      std::vector<std::string> cells = {std::to_string(d), score};
      for (const double value : {m.variance, m.entropy, m.jacobian, m.least, m.dead, m.gradient})
        cells.push_back(short_number(value));
      table.add(std::move(cells));
    }
    csv += std::to_string(d) + "," + to_string(scaled.jacobian) + "," + to_string(plain.jacobian) + "\n";
    const std::string place = "scale." + std::to_string(row++) + ".";
    self.result(place + "d", d);
    const auto both = [&](const std::string& name, double ScoreStatistics::*what) {
      self.result(place + name, plain.*what);
      self.result(place + name + "_scaled", scaled.*what);
    };
    both("variance", &ScoreStatistics::variance);
    both("entropy", &ScoreStatistics::entropy);
    both("jacobian", &ScoreStatistics::jacobian);
    both("least", &ScoreStatistics::least);
    both("dead", &ScoreStatistics::dead);
    both("gradient", &ScoreStatistics::gradient);
  }
  text << table.to_string() << "\n\n"
       << "q · k is a sum of d products of variance 1, so its variance is d. Not scaled, one key takes "
          "nearly all of the "
          "weight\nas d grows, and the slope dies: no slope is exactly zero (least |J|), but a gradient of 1 "
          "moves the scores "
          "of a dead row\nby less than 0.001 of itself. Scaled, nothing depends on d.\n";
  if (self.draws()) {
    self.write("scale.csv", csv);
    self.plot("scale", kSoftmaxOfScores);
  }
}

}  // namespace program
