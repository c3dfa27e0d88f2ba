#include "examples/guide/diagrams_attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "tensor/table.h"

namespace program::drawing {

using heed::decimals;

namespace {

// Weights of the vectors in C-002-14: query i against the first `keys` of them.
std::vector<double> row_of_four(size_t i, size_t keys) {
  constexpr std::array<std::array<double, 3>, 4> x = {{{1, 0, 1}, {0, 2, 1}, {1, 1, 0}, {2, 0, 0}}};
  std::vector<double> scores;
  for (size_t j = 0; j < keys; ++j)
    scores.push_back((x[i][0] * x[j][0] + x[i][1] * x[j][1] + x[i][2] * x[j][2]) / std::sqrt(3));
  return softmax_of(scores);
}

}  // namespace

void self_attention(Picture& draw) {
  const Box x = draw.matrix({162, 8, 36, 48}, 4, 3);
  const Box q = draw.matrix({50, 106, 36, 48}, 4, 3, kQuery);
  const Box k = draw.matrix({140, 106, 36, 48}, 4, 3, kKey);
  const Box v = draw.matrix({274, 106, 36, 48}, 4, 3, kValue);
  const Box s = draw.matrix({89, 200, 48, 48}, 4, 4);
  std::vector<double> weights;
  for (size_t i = 0; i < 4; ++i)
    for (const double weight : row_of_four(i, 4)) weights.push_back(weight);
  const Box a = draw.shaded({214, 200, 48, 48}, 4, weights);
  const Box z = draw.matrix({251, 296, 36, 48}, 4, 3, kValue);

  draw.arrow({x.bottom(0.2), q.top()}, {.color = kQuery});
  draw.arrow({x.bottom(0.5), k.top()}, {.color = kKey});
  draw.arrow({x.bottom(0.8), v.top()}, {.color = kValue});
  draw.arrow({q.bottom(), s.top(0.25)});
  draw.arrow({k.bottom(), s.top(0.75)});
  draw.arrow({s.right(), a.left()});
  draw.arrow({a.bottom(0.75), z.top(0.25)});
  draw.arrow({v.bottom(), z.top(0.75)});

  draw.label({152, 32}, {"words $X$", "词 $X$"}, {.align = "end"});
  draw.label({206, 32}, "$[T, d]$", {.color = kSoft, .size = 11, .align = "start"});
  draw.label({103, 72}, "$W_Q$", {.color = kQuery});
  draw.label({191, 84}, "$W_K$", {.color = kKey});
  draw.label({256, 72}, "$W_V$", {.color = kValue});
  draw.label({38, 130}, "$Q$", {.color = kQuery});
  draw.label({128, 130}, "$K$", {.color = kKey});
  draw.label({324, 130}, "$V$", {.color = kValue});
  draw.label({113, 264}, "$S = QK^T / √d$");
  draw.label({113, 283}, {"scores, $[T, T]$", "评分，$[T, T]$"}, {.color = kSoft, .size = 11});
  draw.label({175, 213}, "softmax", {.size = 11});
  draw.label({244, 264}, {"weights $A$", "权重 $A$"}, {.color = kAccent, .align = "end"});
  draw.label({241, 320}, {"output $Z = AV$", "输出 $Z = AV$"}, {.align = "end"});
  draw.label({297, 320}, "$[T, d]$", {.color = kSoft, .size = 11, .align = "start"});
}

void softmax_saturation(Picture& draw) {
  const std::vector<double> scores = {0.8, 0.1, 0.3, -0.2, 0};
  constexpr double kBase = 176, kHeight = 112;
  const auto panel = [&](double x, double scale, const Words& title, const Words& verdict,
                         const Words& below) {
    std::vector<double> scaled = scores;
    for (double& score : scaled) score *= scale;
    const std::vector<double> weights = softmax_of(scaled);
    for (size_t i = 0; i < scores.size(); ++i) {
      const double center = x + 16 + 32 * static_cast<double>(i), height = kHeight * weights[i];
      draw.box({center - 11, kBase - height, 22, height}, "", {.color = kAccent, .shade = 0.5, .round = 0});
      draw.label({center, kBase - height - 8}, decimals(weights[i], 2), {.size = 11});
      draw.label({center, kBase + 12}, "$" + decimals(scaled[i], 1) + "$", {.color = kSoft, .size = 11});
    }
    draw.line({{x, kBase}, {x + 160, kBase}});
    draw.label({x + 80, 14}, title);
    draw.label({x + 80, 34}, verdict, {.color = kAccent});
    draw.label({x + 80, kBase + 32}, below, {.color = kSoft, .size = 12});
  };
  panel(8, 1, "softmax$(s)$", {"nearly even", "接近均匀"}, {"scores $s$", "评分 $s$"});
  panel(192, 8, "softmax$(8s)$", {"nearly one-hot", "接近独热"}, {"scores $8s$", "评分 $8s$"});
}

void four_to_four(Picture& draw) {
  const auto panel = [&](double x, const Words& title, bool causal) {
    const auto center = [&](size_t i) { return x + 16 + 42 * static_cast<double>(i); };
    for (size_t i = 0; i < 4; ++i) {
      const std::vector<double> weights = row_of_four(i, causal ? i + 1 : 4);
      for (size_t j = 0; j < weights.size(); ++j)
        draw.weight({center(j), 174}, {center(i), 68}, weights[j],
                    i == 2 ? Look{.color = kAccent, .shade = 1} : Look{.shade = 0.65});
    }
    for (size_t i = 0; i < 4; ++i) {
      const std::string number = std::to_string(i + 1);
      draw.box(around({center(i), 55}, 30, 26), "$z_" + number + "$", {.color = i == 2 ? kAccent : kSoft});
      draw.box(around({center(i), 187}, 30, 26), "$x_" + number + "$");
    }
    draw.label({x + 79, 16}, title);
  };
  panel(8, {"every input", "看到所有输入"}, false);
  panel(194, {"no later inputs", "看不到后面的输入"}, true);
}

void planted_relation(Picture& draw) {
  constexpr std::array<double, 4> kAngles = {30, 110, 180, 290};
  constexpr double kRotation = 70;
  constexpr Point kQueries = {88, 108}, kKeys = {272, 108}, kHidden = {180, 242};
  const auto ring = [&](Point center, double radius, double turn, Color color) {
    const double gap = 9.5 / radius * 180 / std::numbers::pi;
    for (size_t i = 0; i < kAngles.size(); ++i) {
      const double next = i + 1 < kAngles.size() ? kAngles[i + 1] : kAngles[0] + 360;
      draw.line(arc(center, radius, kAngles[i] + turn + gap, next + turn - gap),
                {.color = color, .dashed = true});
      draw.box(around(on_circle(center, radius, kAngles[i] + turn), 19, 19), std::to_string(i + 1),
               {.color = color, .round = 9.5, .size = 11});
    }
  };
  ring(kQueries, 62, kRotation, kQuery);
  ring(kKeys, 62, 0, kKey);
  ring(kHidden, 46, 0, kSoft);
  for (const double angle : kAngles) {
    const Point from = on_circle(kQueries, 62, angle + kRotation), to = on_circle(kKeys, 62, angle);
    const double share = 9.5 / std::hypot(to.x - from.x, to.y - from.y);
    const Point step = {share * (to.x - from.x), share * (to.y - from.y)};
    draw.line({{from.x + step.x, from.y + step.y}, {to.x - step.x, to.y - step.y}}, {.color = kAccent});
  }
  draw.arrow({{126, 220}, {106, 192}});
  draw.arrow({{234, 220}, {254, 192}});
  draw.label({88, 14}, {"queries $q = Rz$", "查询 $q = Rz$"}, {.color = kQuery});
  draw.label({272, 14}, {"keys $k = z + m$", "键 $k = z + m$"}, {.color = kKey});
  draw.label(kHidden, {"hidden\n$z$", "隐藏的\n$z$"}, {.size = 12});
  draw.label({106, 214}, {"turned by $R$", "旋转 $R$"}, {.size = 12, .align = "end"});
  draw.label({254, 214}, {"shifted by $m$", "平移 $m$"}, {.size = 12, .align = "start"});
}

void online_softmax(Picture& draw) {
  constexpr std::array<std::array<double, 2>, 3> s = {{{1, 3}, {2, 5}, {4, 0}}},
                                                 v = {{{10, 20}, {30, 40}, {50, 60}}};
  double m = -INFINITY, l = 0, o = 0;
  Box before{};
  for (size_t b = 0; b < 3; ++b) {
    const double x = 52 + 116 * static_cast<double>(b), largest = std::max({m, s[b][0], s[b][1]});
    const double factor = std::exp(m - largest);
    l *= factor, o *= factor;
    for (size_t j = 0; j < 2; ++j) {
      l += std::exp(s[b][j] - largest);
      o += std::exp(s[b][j] - largest) * v[b][j];
    }
    draw.label({x + 35, 14}, {"block " + std::to_string(b + 1), "第 " + std::to_string(b + 1) + " 块"});
    draw.row({x, 28, 70, 26}, {decimals(s[b][0], 0), decimals(s[b][1], 0)}, {.color = kKey});
    draw.row({x, 60, 70, 26}, {decimals(v[b][0], 0), decimals(v[b][1], 0)}, {.color = kValue});
    const Box now = draw.box(
        {x, 116, 70, 72},
        "$m = " + decimals(largest, 0) + "$\n$l = " + decimals(l, 2) + "$\n$o = " + decimals(o, 1) + "$",
        {.color = kAccent});
    draw.arrow({{x + 35, 86}, now.top()});
    if (b > 0) {
      const Point middle = {(before.right().x + x) / 2, now.center().y};
      draw.arrow({before.right(), now.left()}, {.color = kAccent});
      draw.label({middle.x, middle.y - 12}, "× " + decimals(factor, 2), {.size = 11});
      draw.label({middle.x, middle.y + 14}, "$e^{" + decimals(m, 0) + "-" + decimals(largest, 0) + "}$");
    }
    before = now;
    m = largest;
  }
  const Box output = draw.box(around({before.center().x - 20, 230}, 110, 28),
                              "$o / l = " + decimals(o / l, 1) + "$", {.color = kValue});
  draw.arrow({before.bottom(), {before.center().x, output.y}}, {.color = kAccent});
  draw.label({6, 41}, {"scores", "评分"}, {.color = kKey, .size = 11, .align = "start"});
  draw.label({6, 73}, {"values", "值"}, {.color = kValue, .size = 11, .align = "start"});
  draw.label({6, 152}, {"so far", "当前"}, {.color = kAccent, .size = 11, .align = "start"});
  draw.label({234, 230}, {"exactly softmax over all keys", "与对所有键做 softmax 完全相同"},
             {.size = 12, .align = "end"});
}

}  // namespace program::drawing
