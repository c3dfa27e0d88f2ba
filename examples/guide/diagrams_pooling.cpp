#include "examples/guide/diagrams_pooling.h"

#include <array>
#include <cmath>

#include "tensor/table.h"

namespace program::drawing {

using heed::decimals;

void cues(Picture& draw) {
  const std::vector<double> weights = softmax_of({1, -0.5, 2.5});
  const auto panel = [&](double x, const Words& query, const std::vector<Words>& keys,
                         const std::vector<Words>& values, const Words& output) {
    const Box wish = draw.box({x, 8, 112, 30}, query, {.color = kQuery, .size = 12});
    const Box seen = draw.box({x, 230, 112, 30}, output, {.color = kValue});
    for (size_t i = 0; i < 3; ++i) {
      const double left = x + 38 * static_cast<double>(i), share = 0.3 + 0.2 * static_cast<double>(i);
      const Box key = draw.box({left, 92, 36, 28}, keys[i], {.color = kKey, .size = 11});
      const Box value = draw.box({left, 156, 36, 28}, values[i], {.color = kValue, .size = 11});
      draw.arrow({wish.bottom(share), key.top()});
      draw.weight(key.bottom(), value.top(), weights[i]);
      draw.weight(value.bottom(), seen.top(share), weights[i]);
    }
  };
  panel(2, {"“I want to read”", "“我想看书”"}, {{"red", "红"}, {"thin", "细"}, {"thick", "厚"}},
        {{"cup", "杯"}, {"pen", "笔"}, {"book", "书"}}, {"the book", "书"});
  panel(246, "$q$", {"$k_1$", "$k_2$", "$k_3$"}, {"$v_1$", "$v_2$", "$v_3$"}, "$f = Σ α_i v_i$");

  const auto meaning = [&](double y, const Words& cue, const Words& term, Color color) {
    draw.label({180, y - 10}, cue, {.color = kSoft, .size = 11});
    draw.label({180, y + 9}, term, {.color = color});
  };
  meaning(24, {"volitional cue", "自主性提示"}, {"query", "查询"}, kQuery);
  meaning(106, {"nonvolitional cues", "非自主性提示"}, {"keys", "键"}, kKey);
  meaning(170, {"sensory inputs", "感官输入"}, {"values", "值"}, kValue);
  meaning(245, {"what you notice", "注意到的对象"}, {"output", "输出"}, kValue);
}

void query_key_value(Picture& draw) {
  constexpr std::array<double, 2> q = {2, 1};
  constexpr std::array<std::array<double, 2>, 3> k = {{{1, 0}, {0, 1}, {-1, 2}}};
  constexpr std::array<double, 3> v = {10, 20, 30};
  std::vector<double> scores;
  for (const auto& key : k) scores.push_back(q[0] * key[0] + q[1] * key[1]);
  const std::vector<double> weights = softmax_of(scores);
  const auto pair = [](const std::array<double, 2>& x) {
    return "$(" + decimals(x[0], 0) + ", " + decimals(x[1], 0) + ")$";
  };

  const Box query = draw.box(around({234, 22}, 76, 28), pair(q), {.color = kQuery});
  const Box softmax = draw.box({116, 172, 236, 28}, {"softmax", "归一化：softmax"});
  const Box output = draw.box(around({234, 364}, 76, 28), "", {.color = kValue});
  double sum = 0;
  for (size_t i = 0; i < 3; ++i) {
    const double x = 150 + 84 * static_cast<double>(i), share = 0.25 * static_cast<double>(i + 1);
    const Box key = draw.box(around({x, 88}, 68, 28), pair(k[i]), {.color = kKey});
    const Box score = draw.box(around({x, 138}, 68, 28), decimals(scores[i], 0));
    const Box weight = draw.box(around({x, 236}, 68, 28), decimals(weights[i], 2),
                                {.color = kAccent, .shade = 0.08 + 0.4 * weights[i]});
    const Box value = draw.box(around({x, 300}, 68, 28), decimals(v[i], 0), {.color = kValue});
    draw.arrow({query.bottom(share), key.top()});
    draw.arrow({key.bottom(), score.top()});
    draw.arrow({score.bottom(), {x, softmax.y}});
    draw.arrow({{x, softmax.y + softmax.height}, weight.top()});
    draw.weight(weight.bottom(), value.top(), weights[i]);
    draw.weight(value.bottom(), output.top(share), weights[i]);
    sum += weights[i] * v[i];
  }
  draw.label(output.center(), decimals(sum, 1));

  const auto name = [&](double y, const Words& words, Color color) {
    draw.label({8, y}, words, {.color = color, .size = 12, .align = "start"});
  };
  name(22, {"query $q$", "查询 $q$"}, kQuery);
  name(88, {"keys $k_i$", "键 $k_i$"}, kKey);
  name(138, {"scores\n$s_i = q · k_i$", "评分\n$s_i = q · k_i$"}, kInk);
  name(236, {"weights $α_i$", "权重 $α_i$"}, kAccent);
  name(300, {"values $v_i$", "值 $v_i$"}, kValue);
  name(364, {"output\n$f = Σ α_i v_i$", "输出\n$f = Σ α_i v_i$"}, kValue);
}

void kernel_weights(Picture& draw) {
  constexpr double kW = 1.5, kQueryAt = 2.72, kAxis = 170, kHeight = 126;
  const std::vector<double> points = {0.2, 0.8, 1.3, 1.85, 2.4, 3.04, 3.6, 4.2, 4.75, 5.4};
  const auto across = [](double x) { return 18 + 58 * x; };
  const auto score = [&](double x) { return -std::pow(kW * (kQueryAt - x), 2) / 2; };
  const auto height = [&](double x) { return kAxis - kHeight * std::exp(score(x)); };
  std::vector<double> scores;
  for (const double x : points) scores.push_back(score(x));
  const std::vector<double> weights = softmax_of(scores);

  Points curve;
  for (double x = -0.1; x < 5.75; x += 0.05) curve.push_back({across(x), height(x)});
  draw.line(curve, {.color = kAccent, .width = 1.8});
  for (size_t i = 0; i < points.size(); ++i) {
    const Point foot = {across(points[i]), kAxis};
    draw.line({foot, {foot.x, height(points[i])}}, {.color = kKey, .width = 0.6 + 20 * weights[i]});
    draw.box(around(foot, 7, 7), "", {.color = kKey, .shade = 1, .round = 3.5});
    draw.label({foot.x, kAxis + 18}, decimals(weights[i], 2), {.size = 11});
  }
  draw.line({{8, kAxis}, {352, kAxis}});
  draw.line({{across(kQueryAt), 24}, {across(kQueryAt), kAxis + 34}}, {.color = kQuery, .dashed = true});

  draw.label({across(kQueryAt), 12}, {"kernel $K(w (x - x_i))$", "核函数 $K(w (x - x_i))$"},
             {.color = kAccent});
  draw.label({across(kQueryAt), kAxis + 44}, {"query $x$", "查询 $x$"}, {.color = kQuery});
  draw.label({8, kAxis + 44}, {"weights, sum 1", "权重，和为 1"}, {.align = "start"});
  draw.label({352, kAxis + 44}, {"keys $x_i$", "键 $x_i$"}, {.color = kKey, .align = "end"});
}

}  // namespace program::drawing
