#include "examples/guide/diagrams_forms.h"

#include <array>
#include <cmath>

#include "autograd/ops/elementary.h"
#include "autograd/ops/index.h"
#include "autograd/ops/logic.h"
#include "autograd/ops/shape.h"
#include "nn/attention/linear_attention.h"
#include "nn/attention/memory.h"
#include "nn/attention/position_bias.h"
#include "tensor/create.h"
#include "tensor/table.h"

namespace program::drawing {

using heed::decimals;

namespace {

// A number without zeros at its end.
std::string short_decimals(double x) {
  std::string text = decimals(x, 2);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// A swatch of a legend, and the words to its right.
void legend_entry(Picture& draw, double x, double y, const Words& words, bool allowed) {
  draw.mask({x, y - 7, 14, 14}, 1, {allowed});
  draw.label({x + 20, y}, words, {.size = 11, .align = "start"});
}

}  // namespace

void shared_heads(Picture& draw) {
  constexpr size_t kHeads = 4;
  const auto panel = [&](double x, const Words& title, size_t groups, bool latent, const Words& kept) {
    const auto place = [&](size_t i, size_t count) {
      return x + 80 * (static_cast<double>(i) + 0.5) / static_cast<double>(count);
    };
    draw.label({x + 40, 12}, title);
    for (size_t g = 0; g < groups; ++g) {
      const std::string number = std::to_string(g + 1);
      const Box shared =
          draw.box(around({place(g, groups), 116}, 18, 38), "$k_" + number + "$\n$v_" + number + "$",
                   {.color = kKey, .shade = latent ? 0 : 0.3, .dashed = latent, .size = 11});
      if (latent) draw.line({shared.bottom(), {x + 40, 166}}, {.dashed = true});
    }
    for (size_t h = 0; h < kHeads; ++h) {
      const Box query = draw.box(around({place(h, kHeads), 47}, 18, 22), "$q_" + std::to_string(h + 1) + "$",
                                 {.color = kQuery, .size = 11});
      draw.line({query.bottom(), {place(h * groups / kHeads, groups), 97}}, {.color = kQuery});
    }
    if (latent) draw.box(around({x + 40, 177}, 60, 22), "$c$", {.color = kKey, .shade = 0.3, .size = 12});
    draw.label({x + 40, 206}, kept, {.color = kAccent});
  };
  panel(6, {"plain", "普通"}, 4, false, "$2H d_k$");
  panel(95, {"grouped", "分组"}, 2, false, "$2G d_k$");
  panel(184, {"multi-query", "单组"}, 1, false, "$2d_k$");
  panel(273, {"latent", "潜向量"}, 4, true, "$L$");
  draw.label({180, 226}, {"numbers kept for each token and layer", "每个词元、每一层要保存的数"},
             {.color = kSoft, .size = 12});
  const auto legend = [&](double x, const Words& words, bool kept) {
    draw.box({x, 242, 14, 14}, "", {.color = kKey, .shade = kept ? 0.3 : 0, .round = 0, .dashed = !kept});
    draw.label({x + 20, 249}, words, {.size = 11, .align = "start"});
  };
  legend(52, {"in the cache", "存入缓存"}, true);
  legend(180, {"computed, not kept", "计算得到，不保存"}, false);
}

void position_bias(Picture& draw) {
  constexpr int64_t kMost = 24;
  constexpr double kCell = 12, kLeft = 52, kTop = 44, kUnit = 8;
  const auto at = [&](double distance) { return kLeft + kCell * (kMost + 0.5 - distance); };
  draw.label({180, 12}, {"ALiBi: $-m(i - j)$", "线性偏置：$-m(i - j)$"}, {.color = kAccent});
  const std::vector<double> slopes = heed::AlibiBias(8).slopes;
  draw.line({{at(kMost), kTop}, {at(0), kTop}}, {.dashed = true});
  draw.label({kLeft - 4, kTop - 8}, "$0$", {.color = kSoft, .size = 10, .align = "end"});
  for (size_t h = 0; h < 4; ++h) {
    const double low = kTop + kUnit * slopes[h] * kMost;
    draw.line({{at(kMost), low}, {at(0), kTop}}, {.color = kAccent});
    draw.label({kLeft - 4, low}, "$m=1/" + decimals(1 / slopes[h], 0) + "$",
               {.color = kSoft, .size = 10, .align = "end"});
  }

  const std::vector<int64_t> buckets =
      heed::T5Bias::bucket(-heed::arange(kMost + 1, heed::float64),
                           {.num_buckets = 8, .max_distance = 32, .bidirectional = false})
          .to_vector<int64_t>();
  draw.label({180, 166}, {"T5: one learned number for each bucket", "T5：每个桶一个可学习的数"},
             {.color = kAccent});
  for (int64_t first = 0; first <= kMost;) {
    int64_t last = first;
    const int64_t bucket = buckets[static_cast<size_t>(first)];
    while (last < kMost && buckets[static_cast<size_t>(last + 1)] == bucket) ++last;
    const double left = at(static_cast<double>(last)) - kCell / 2, right = at(static_cast<double>(first));
    draw.box({left, 182, right + kCell / 2 - left, 24}, std::to_string(bucket),
             {.color = kAccent, .shade = bucket % 2 == 0 ? 0.3 : 0.12, .round = 0, .size = 11});
    first = last + 1;
  }
  for (int64_t distance = 0; distance <= kMost; distance += 4)
    draw.label({at(static_cast<double>(distance)), 217}, "$" + std::to_string(distance) + "$",
               {.color = kSoft, .size = 11});
  draw.label({180, 236}, {"distance $i - j$ from the key to the query", "键到查询的距离 $i - j$"},
             {.color = kSoft, .size = 12});
}

void longer_rotary(Picture& draw) {
  constexpr double kRadius = 36, kFast = 57.3, kSlow = 40, kFactor = 4;
  const auto column = [&](double x, const Words& title, double fast, double slow) {
    draw.label({x, 12}, title, {.color = kAccent});
    const auto dial = [&](double y) {
      draw.line(arc({x, y}, kRadius, 0, 360), {.width = 1});
      return Point{x, y};
    };
    const Point above = dial(78), below = dial(200);
    for (int position = 0; position <= 4; ++position) {
      draw.box(around(on_circle(above, kRadius, fast * position), 7, 7), "",
               {.color = kQuery, .shade = 0.6, .round = 3.5});
      if (position == 0 || position == 1 || position == 4)
        draw.label(on_circle(above, kRadius + (position == 1 ? -11 : 11), fast * position),
                   std::to_string(position), {.color = kQuery, .size = 11});
    }
    draw.line(arc(below, kRadius, 0, kSlow), {.color = kKey, .width = 6});
    draw.arrow({below, on_circle(below, kRadius, slow)}, {.color = slow > kSlow ? kQuery : kInk, .width = 2});
  };
  column(64, {"unchanged", "不变"}, kFast, kSlow * kFactor);
  column(180, {"positions / 4", "位置除以 4"}, kFast / kFactor, kSlow);
  column(296, {"larger base", "增大基数"}, kFast, kSlow);
  draw.label({180, 136}, {"the fastest pair at the positions 0 to 4", "最快的一对，位置 0 到 4"},
             {.size = 12});
  draw.label({180, 254}, {"the slowest pair at position $4T$", "最慢的一对，位置 $4T$"}, {.size = 12});
  draw.line({{52, 274}, {70, 274}}, {.color = kKey, .width = 6});
  draw.label({78, 274}, {"angles seen in training, up to position $T$", "训练时见过的角度，直到位置 $T$"},
             {.color = kSoft, .size = 12, .align = "start"});
}

void sparse_masks(Picture& draw) {
  constexpr size_t kT = 8;
  const auto title = [&](double x, const Words& words) {
    draw.label({x + 38, 12}, words, {.size = 12});
    return Box{x, 26, 76, 76};
  };
  const auto panel = [&](double x, const Words& name, const heed::Mask& mask) {
    draw.mask(title(x, name), kT, mask.allowed().to_vector<bool>());
  };
  const heed::Mask causal = heed::Mask::causal(kT), first = heed::arange(kT, heed::int64) < 1;
  panel(8, {"window, sink", "窗口加汇点"}, heed::Mask::window(kT, 2, 0) | (first & causal));
  panel(97, {"blocks", "分块"}, heed::Mask::blocks(kT, 4) & causal);
  panel(186, {"dilated", "空洞"}, heed::Mask::dilated(kT, 2) & causal);
  const heed::Tensor centers = heed::tensor({0.5, 1.0, 1.0, 2.5, 3.5, 4.0, 6.0, 6.5});
  draw.shaded(title(275, {"local, near $p_i$", "局部：$p_i$ 附近"}), kT,
              heed::flatten(heed::exp(heed::local_bias(centers, kT, 1)) * 0.7).to_vector<double>());
  legend_entry(draw, 24, 122, {"may attend", "可以关注"}, true);
  legend_entry(draw, 140, 122, {"forbidden: weight 0", "禁止：权重为 0"}, false);
}

void monotonic(Picture& draw) {
  constexpr size_t kQueries = 5, kKeys = 7;
  constexpr std::array<size_t, kQueries> kChosen = {0, 2, 2, 4, 6};
  std::vector<double> scores;
  for (size_t i = 0; i < kQueries; ++i)
    for (size_t j = 0; j < kKeys; ++j) scores.push_back(j >= kChosen[i] ? 1.0 : -2.0);
  const auto panel = [&](double x, const Words& title) {
    draw.label({x + 70, 12}, title);
    return Box{x, 30, 140, 100};
  };
  const heed::Tensor expected =
      heed::MonotonicNormaliser()(heed::from_vector(scores, {kQueries, kKeys}), heed::Mask());
  draw.shaded(panel(28, {"expected", "期望"}), kQueries, heed::flatten(expected).to_vector<double>());

  const Box grid = panel(204, {"one alignment", "一种对齐"});
  Points path;
  for (size_t i = 0; i < kQueries; ++i)
    for (size_t j = 0; j < kKeys; ++j) {
      const Box cell = grid.cell(i, kQueries, j, kKeys);
      if (i > 0 && j < kChosen[i - 1])
        draw.hatched(cell);
      else
        draw.shaded(cell, 1, {j == kChosen[i] ? 0.6 : 0.08});
      if (j == kChosen[i]) path.push_back(cell.center());
    }
  draw.line(path, {.color = kInk, .width = 2});
  for (size_t i = 0; i < kQueries; ++i)
    draw.label({16, grid.cell(i, kQueries, 0, 1).center().y}, "$y_" + std::to_string(i + 1) + "$",
               {.color = kQuery, .size = 12});
  draw.label({98, 144}, {"keys, from left to right", "键，从左到右"}, {.color = kSoft, .size = 12});
  legend_entry(draw, 204, 146, {"behind the last choice", "已经越过的键"}, false);
}

void state_rules(Picture& draw) {
  struct Rule {
    Words name;
    heed::LinearRule rule;
  };
  using enum heed::LinearRule;
  const std::array<Rule, 4> rules = {{{{"linear", "线性"}, linear},
                                      {{"gated", "门控"}, gated},
                                      {{"delta", "增量"}, delta},
                                      {{"gated delta", "门控增量"}, gated_delta}}};
  const heed::Tensor keys = heed::tensor({{1.0, 0.0}, {0.0, 1.0}, {1.0, 0.0}}),
                     values = heed::tensor({{5.0}, {3.0}, {7.0}});
  const std::array<Words, 3> writes = {Words("$k_1$: 5"), Words("$k_2$: 3"), Words("$k_1$: 7")};
  const auto column = [](size_t t) { return 84 + 74 * static_cast<double>(t); };
  draw.label({8, 20}, {"write", "写入"}, {.color = kSoft, .size = 12, .align = "start"});
  for (size_t t = 0; t < 3; ++t) draw.box({column(t), 8, 60, 24}, writes[t], {.color = kValue, .size = 12});
  draw.label({330, 20}, {"read $k_1$", "读 $k_1$"}, {.color = kQuery, .size = 12});
  for (size_t r = 0; r < rules.size(); ++r) {
    const double y = 50 + 40 * static_cast<double>(r);
    draw.label({8, y + 13}, rules[r].name, {.size = 12, .align = "start"});
    heed::LinearAttentionOptions options{.rule = rules[r].rule, .scale = 1};
    if (rules[r].rule == gated || rules[r].rule == gated_delta)
      options.decay = heed::full({1, 1}, std::log(0.5), heed::float64);
    if (rules[r].rule == delta || rules[r].rule == gated_delta)
      options.beta = heed::ones({1, 1}, heed::float64);
    double read = 0;
    for (size_t t = 0; t < 3; ++t) {
      const auto row = [&](const heed::Tensor& x) {
        return heed::narrow(heed::to(x, heed::float64), 0, static_cast<int64_t>(t), 1);
      };
      const heed::LinearAttentionResult step =
          heed::F::linear_attention(row(keys), row(keys), row(values), options);
      options.state = step.state;
      const std::vector<double> s = heed::flatten(step.state).to_vector<double>();
      draw.row({column(t), y, 60, 26}, {short_decimals(s[0]), short_decimals(s[1])},
               {.color = kAccent, .round = 0, .size = 12});
      if (t < 2) draw.arrow({{column(t) + 60, y + 13}, {column(t + 1), y + 13}}, {.color = kAccent});
      read = s[0];
    }
    draw.label({330, y + 13}, short_decimals(read), {.color = kQuery});
  }
  draw.label(
      {180, 216},
      {"a state holds what $k_1$ and what $k_2$ would read", "状态中的两个数：用 $k_1$、$k_2$ 各读到什么"},
      {.color = kSoft, .size = 12});
}

void hopfield(Picture& draw) {
  constexpr double kScale = 62, kShortest = 10;
  constexpr std::array<double, 3> kAngles = {90, 210, 330};
  constexpr std::array<Point, 4> kStarts = {{{0.3, -0.35}, {-0.5, 0.05}, {0.15, 0.5}, {0.6, -0.1}}};
  std::vector<double> numbers;
  for (const double angle : kAngles) {
    const Point pattern = on_circle({0, 0}, 1, angle);
    numbers.insert(numbers.end(), {pattern.x, pattern.y});
  }
  const heed::Tensor patterns = heed::from_vector(numbers, {3, 2});
  const auto panel = [&](double x, const Words& title, double beta) {
    const Point center = {x, 116};
    const auto on_page = [&](double a, double b) {
      return Point{center.x + kScale * a, center.y + kScale * b};
    };
    draw.label({x, 14}, title);
    for (size_t i = 0; i < kAngles.size(); ++i) {
      const Point pattern = on_page(numbers[2 * i], numbers[2 * i + 1]);
      draw.box(around(pattern, 10, 10), "", {.color = kKey, .shade = 0.6, .round = 5});
      draw.label(on_page(1.25 * numbers[2 * i], 1.25 * numbers[2 * i + 1]),
                 "$x_" + std::to_string(i + 1) + "$", {.color = kKey});
    }
    for (const Point& start : kStarts) {
      heed::Tensor state = heed::from_vector(std::vector<double>{start.x, start.y}, {1, 2});
      Points path = {on_page(start.x, start.y)};
      draw.box(around(path[0], 5, 5), "", {.color = kQuery, .shade = 1, .round = 2.5});
      for (int step = 0; step < 12; ++step) {
        state = heed::F::hopfield_retrieve(state, patterns, {.beta = beta, .max_steps = 1});
        const std::vector<double> xi = heed::flatten(state).to_vector<double>();
        const Point next = on_page(xi[0], xi[1]);
        if (std::hypot(next.x - path.back().x, next.y - path.back().y) > kShortest) path.push_back(next);
      }
      if (path.size() > 1) draw.arrow(path, {.color = kQuery});
    }
  };
  panel(92, {"$β = 1$: the mean", "$β = 1$：平均值"}, 1);
  panel(268, {"$β = 8$: one pattern", "$β = 8$：一个模式"}, 8);
  draw.box(around({60, 188}, 5, 5), "", {.color = kQuery, .shade = 1, .round = 2.5});
  draw.label({70, 188}, {"where a state begins, and where it settles", "状态的起点，以及它停下的地方"},
             {.color = kSoft, .size = 12, .align = "start"});
}

}  // namespace program::drawing
