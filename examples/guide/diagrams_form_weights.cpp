#include "examples/guide/diagrams_form_weights.h"

#include <array>
#include <cmath>

#include "autograd/ops/shape.h"
#include "nn/attention/alignment.h"
#include "nn/attention/normaliser.h"
#include "nn/attention/scaled_dot_product.h"
#include "tensor/create.h"
#include "tensor/table.h"

namespace program::drawing {

using heed::decimals;

namespace {

// Bars on the lower edge of a box, with their heights in units of `unit` and their numbers.
struct Bars {
  Box where;
  double unit, width = 18, size = 10;
  Color color = kAccent;
};
void draw_bars(Picture& draw, const Bars& bars, const std::vector<double>& heights,
               const std::vector<Words>& names = {}) {
  const double base = bars.where.y + bars.where.height;
  for (size_t i = 0; i < heights.size(); ++i) {
    const double center = bars.where.cell(0, 1, i, heights.size()).center().x;
    const double height = bars.unit * std::abs(heights[i]);
    const double top = heights[i] < 0 ? base : base - height;
    draw.box({center - bars.width / 2, top, bars.width, height}, "",
             {.color = bars.color, .shade = 0.5, .round = 0});
    const std::string number = decimals(std::abs(heights[i]), 2);
    draw.label({center, heights[i] < 0 ? base + height + 8 : top - 8},
               heights[i] < 0 ? "$-" + number + "$" : number, {.size = bars.size});
    if (i < names.size()) draw.label({center, base + 12}, names[i], {.color = kSoft, .size = 11});
  }
  draw.line({{bars.where.x, base}, {bars.where.x + bars.where.width, base}});
}

double sum_of(const std::vector<double>& x) {
  double sum = 0;
  for (const double each : x) sum += each;
  return sum;
}

std::vector<double> weights_of(const auto& normaliser, const std::vector<double>& scores) {
  const heed::Tensor weights = normaliser(heed::from_vector(scores, {1, std::ssize(scores)}), heed::Mask());
  return heed::flatten(weights).to_vector<double>();
}

Words sum_words(const std::vector<double>& weights) {
  const std::string sum = decimals(sum_of(weights), 2);
  return {"sum " + sum, "和 " + sum};
}

}  // namespace

void bounded_scores(Picture& draw) {
  constexpr double kCap = 10, kMost = 20, kUnit = 3.6;
  constexpr Point kCenter = {86, 118};
  const auto at = [&](double s, double y) { return Point{kCenter.x + kUnit * s, kCenter.y - kUnit * y}; };
  draw.label({kCenter.x, 14}, {"soft cap", "软上限"});
  draw.line({at(-kMost, 0), at(kMost, 0)}, {.width = 1});
  draw.line({at(0, -kMost), at(0, kMost)}, {.width = 1});
  draw.line({at(-kMost, -kMost), at(kMost, kMost)}, {.dashed = true});
  for (const double cap : {-kCap, kCap})
    draw.line({at(-kMost, cap), at(kMost, cap)}, {.color = kKey, .dashed = true});
  Points curve;
  for (double s = -kMost; s <= kMost; s += 0.5) curve.push_back(at(s, kCap * std::tanh(s / kCap)));
  draw.line(curve, {.color = kAccent, .width = 2.2});
  draw.label(at(-14, kCap + 3), "$c$", {.color = kKey, .size = 12});
  draw.label(at(14, -kCap - 3), "$-c$", {.color = kKey, .size = 12});
  draw.label(at(kMost - 3, -3), "$s$", {.color = kSoft, .size = 12});
  draw.label(at(11.5, 16.5), "$s$", {.color = kSoft, .size = 12});

  draw.label({230, 14}, "softmax");
  draw.label({318, 14}, "$σ(s + b)$");
  const auto row = [&](double y, const Words& title, const std::vector<double>& scores) {
    draw.label({274, y}, title, {.color = kSoft, .size = 11});
    const auto panel = [&](double x, const std::vector<double>& weights) {
      const Box where{x, y + 12, 78, 60};
      draw_bars(draw, {where, 44}, weights);
      draw.label({where.center().x, y + 84}, sum_words(weights), {.color = kAccent, .size = 11});
    };
    panel(191, weights_of(heed::SoftmaxNormaliser(), scores));
    panel(279, weights_of(heed::SigmoidNormaliser(), scores));
  };
  row(40, {"2, 2, $-4$: two keys fit", "评分 2、2、$-4$：两个键匹配"}, {2, 2, -4});
  row(146, {"$-4$, $-4$, $-4$: no key fits", "评分 $-4$、$-4$、$-4$：都不匹配"}, {-4, -4, -4});
}

void sparse_weights(Picture& draw) {
  const std::vector<double> scores = {1, 0.6, 0, -0.8};
  const auto panel = [&](double x, double y, const Words& title, const std::vector<double>& weights) {
    draw.label({x + 76, y}, title, {.size = 12});
    std::vector<Words> names;
    for (const double s : scores) names.emplace_back("$" + decimals(s, 1) + "$");
    draw_bars(draw, {{x, y + 14, 152, 84}, 92, 20}, weights, names);
    draw.label({x + 76, y + 126}, sum_words(weights), {.color = kAccent, .size = 11});
  };
  const heed::Tensor logits = heed::from_vector(scores, {1, 4}), one = heed::ones({1, 1}, logits.dtype());
  const heed::AttentionOptions sink{.scale = 1, .sink_logit = heed::zeros({1}, heed::float64)};
  panel(16, 12, {"softmax: $a = 1$", "softmax：$a = 1$"}, weights_of(heed::SoftmaxNormaliser(), scores));
  panel(192, 12, {"softmax with a sink", "softmax 加汇点"},
        heed::flatten(heed::attention_weights(one, heed::transpose(logits), sink)).to_vector<double>());
  panel(16, 166, {"entmax: $a = 1.5$", "稀疏：$a = 1.5$"}, weights_of(heed::EntmaxNormaliser(), scores));
  panel(192, 166, {"sparsemax: $a = 2$", "更稀疏：$a = 2$"}, weights_of(heed::SparsemaxNormaliser(), scores));
}

void copy_mixture(Picture& draw) {
  const std::vector<double> generated = {0.7, 0.2, 0.1}, attention = {0.5, 0.3, 0.2};
  const std::array<const char*, 3> letters = {"$a$", "$b$", "$c$"};
  const std::array<size_t, 3> source = {2, 1, 2};
  constexpr double kGate = 0.4;
  const heed::Tensor p = heed::from_vector(generated, {1, 3}), alpha = heed::from_vector(attention, {1, 3}),
                     classes = heed::tensor({2, 1, 2}, heed::int64);
  const auto mixture = [&](double gate) {
    return heed::flatten(heed::F::copy_mixture(p, alpha, classes, heed::full({1, 1}, gate, heed::float64)))
        .to_vector<double>();
  };
  draw.label({180, 14}, {"the source, and the weights of attention", "源句，以及注意力权重"}, {.size = 12});
  for (size_t j = 0; j < source.size(); ++j) {
    const Box word =
        draw.box({132 + 34 * static_cast<double>(j), 28, 28, 24}, letters[source[j]], {.color = kKey});
    draw.label({word.center().x, 63}, decimals(attention[j], 1), {.color = kAccent, .size = 11});
  }
  const auto panel = [&](double x, const Words& title, const std::vector<double>& heights, Color color) {
    draw.label({x + 48, 86}, title, {.size = 12});
    draw_bars(draw, {{x, 98, 96, 88}, 80, 20, 10, color}, heights, {letters[0], letters[1], letters[2]});
  };
  panel(8, {"generated, × 0.4", "生成，× 0.4"}, generated, kSoft);
  panel(132, {"copied, × 0.6", "复制，× 0.6"}, mixture(0), kKey);
  panel(256, {"both together", "两者之和"}, mixture(kGate), kValue);
  draw.label({118, 150}, "+");
  draw.label({242, 150}, "=");
}

void differences(Picture& draw) {
  constexpr double kLambda = 0.8;
  const std::vector<double> first = softmax_of({1.6, 0.3, 0.1, 0.4});
  std::vector<double> second = softmax_of({0.3, 0.4, 0.0, 0.4}), difference;
  for (size_t j = 0; j < first.size(); ++j) {
    second[j] *= kLambda;
    difference.push_back(first[j] - second[j]);
  }
  const auto panel = [&](double x, const Words& title, const std::vector<double>& heights, Color color) {
    draw.label({x + 56, 12}, title);
    draw_bars(draw, {{x, 24, 112, 76}, 100, 15, 9.5, color}, heights);
  };
  panel(2, "$A_1$", first, kSoft);
  panel(124, "$λ A_2$", second, kSoft);
  panel(246, "$A_1 - λ A_2$", difference, kAccent);
  draw.label({119, 60}, "$-$");
  draw.label({241, 60}, "=");

  constexpr std::array<std::array<double, 3>, 3> kMix = {{{0.8, 0.2, 0}, {0.1, 0.6, 0.4}, {0.1, 0.2, 0.6}}};
  const std::array<std::vector<double>, 3> heads = {std::vector<double>{0.9, 0, 0, 0, 0.9, 0, 0, 0, 0.9},
                                                    std::vector<double>{0, 0.9, 0, 0, 0, 0.9, 0.9, 0, 0},
                                                    std::vector<double>(9, 0.3)};
  draw.label({180, 128},
             {"talking heads: mixtures of the weights of three heads", "互通的头：三个头的权重互相混合"},
             {.size = 12});
  const auto place = [](size_t head, double y) {
    return Box{66 + 90 * static_cast<double>(head), y, 48, 48};
  };
  for (size_t g = 0; g < 3; ++g) {
    std::vector<double> mixed(9, 0.0);
    for (size_t h = 0; h < 3; ++h) {
      for (size_t cell = 0; cell < 9; ++cell) mixed[cell] += kMix[h][g] * heads[h][cell];
      if (kMix[h][g] > 0)
        draw.weight(place(h, 156).bottom(), place(g, 246).top(), kMix[h][g], {.shade = 0.65});
    }
    draw.shaded(place(g, 156), 3, heads[g]);
    draw.shaded(place(g, 246), 3, mixed);
    const std::string number = std::to_string(g + 1);
    draw.label({place(g, 0).x - 16, 180}, "$A_" + number + "$", {.size = 12});
  }
}

}  // namespace program::drawing
