#include "examples/guide/diagrams_transformer.h"

#include "autograd/ops/norm.h"
#include "nn/attention/position.h"
#include "tensor/create.h"
#include "tensor/table.h"

namespace program::drawing {

namespace {

using Coordinates = std::vector<double>;

// Shades for numbers from -2 to 2, none of which is opaque.
Coordinates shades_of(Coordinates numbers) {
  for (double& number : numbers) number = (number + 2) / 5;
  return numbers;
}

}  // namespace

void position_added(Picture& draw) {
  struct Word {
    Words word;
    Coordinates vector;
  };
  const Word dog = {{"dog", "狗"}, {0.9, -0.8, 0.3, -0.9}}, bites = {{"bites", "咬"}, {-0.9, 0.2, 0.8, 0.6}},
             man = {{"man", "人"}, {-0.2, 0.9, -0.9, 0.4}};
  const Coordinates positions = heed::SinusoidalPosition(4).table(3, 0, heed::float64).to_vector<double>();
  const auto sentence = [&](double y, const std::vector<Word>& words) {
    for (size_t p = 0; p < 3; ++p, y += 26) {
      const Coordinates at(positions.begin() + 4 * static_cast<int64_t>(p),
                           positions.begin() + 4 * static_cast<int64_t>(p + 1));
      Coordinates sum = words[p].vector;
      for (size_t i = 0; i < 4; ++i) sum[i] += at[i];
      draw.label({8, y + 9}, words[p].word, {.align = "start"});
      draw.shaded({56, y, 72, 18}, 1, shades_of(words[p].vector));
      draw.label({146, y + 9}, "+");
      draw.shaded({164, y, 72, 18}, 1, shades_of(at), kSoft);
      draw.label({254, y + 9}, "=");
      draw.shaded({272, y, 72, 18}, 1, shades_of(sum));
    }
  };
  draw.label({92, 14}, {"word", "词"});
  draw.label({200, 14}, {"position", "位置"});
  draw.label({308, 14}, {"input", "输入"});
  sentence(30, {dog, bites, man});
  sentence(126, {man, bites, dog});
  draw.line({{8, 114}, {352, 114}}, {.width = 1, .dashed = true});
  draw.label({92, 224}, {"the same three\nvectors", "同样的三个向量"}, {.size = 12});
  draw.label({308, 224}, {"different\nvectors", "不同的向量"}, {.color = kAccent, .size = 12});
}

void rotary(Picture& draw) {
  const auto turned = [&](Point center, double radius, double angle, Color color) {
    draw.arrow({center, on_circle(center, radius, angle)}, {.color = color, .width = 2});
  };
  const auto circle = [&](Point center, double radius) {
    draw.box(around(center, 2 * radius, 2 * radius), "", {.shade = 0, .round = radius, .dashed = true});
  };
  const auto pair = [&](double x, double angle, const Words& coordinates, const Words& turn) {
    const Point center = {x, 94};
    circle(center, 34);
    draw.line({center, on_circle(center, 34, 20)}, {.color = kQuery, .dashed = true});
    turned(center, 34, 20 + angle, kQuery);
    draw.arrow(arc(center, 20, 22, 17 + angle), {.color = kAccent});
    draw.label({x, 46}, coordinates, {.size = 12});
    draw.label({x, 144}, turn, {.color = kAccent, .size = 12});
  };
  draw.label({180, 16},
             {"at position $p$, each pair turns by its own angle", "在位置 $p$，每对坐标旋转各自的角度"},
             {.size = 12});
  pair(62, 120, {"$x_1, x_2$"}, {"fast: $pω_0$", "快：$pω_0$"});
  pair(180, 70, {"$x_3, x_4$"}, {"slower: $pω_1$", "较慢：$pω_1$"});
  pair(298, 40, {"$x_5, x_6$"}, {"slowest: $pω_2$", "最慢：$pω_2$"});
  draw.line({{8, 164}, {352, 164}}, {.width = 1, .dashed = true});

  constexpr double kStep = 22;
  const auto product = [&](double x, int key, int query) {
    const Point center = {x, 240};
    const double k = 5 + kStep * key, q = 20 + kStep * query;
    circle(center, 48);
    turned(center, 48, k, kKey);
    turned(center, 48, q, kQuery);
    draw.line(arc(center, 18, k, q), {.color = kAccent, .width = 2});
    draw.label(on_circle(center, 64, k), "$R_" + std::to_string(key) + "k$", {.color = kKey, .size = 12});
    draw.label(on_circle(center, 64, q), "$R_" + std::to_string(query) + "q$", {.color = kQuery, .size = 12});
  };
  product(92, 1, 3);
  product(264, 4, 6);
  draw.label({92, 306}, "$3 - 1 = 2$", {.size = 12});
  draw.label({264, 306}, "$6 - 4 = 2$", {.size = 12});
  draw.label({180, 240}, "=", {.size = 18});
  draw.label({180, 332},
             {"the same distance, the same angle, the same product", "距离相同，夹角相同，点积相同"},
             {.size = 12});
}

void layer_norm(Picture& draw) {
  const auto panel = [&](double x, const Words& name, auto standardized) {
    const Box all{x, 48, 120, 100};
    for (size_t i = 0; i < 5; ++i)
      for (size_t j = 0; j < 6; ++j)
        draw.shaded(all.cell(i, 5, j, 6), 1, {standardized(i, j) ? 0.45 : 0.0},
                    standardized(i, j) ? kAccent : kSoft);
    draw.label({x + 60, 14}, name);
    draw.label({x + 60, 36}, {"features", "特征"}, {.color = kSoft, .size = 11});
    draw.label({x - 6, 98}, {"words", "词"}, {.color = kSoft, .size = 11, .align = "end"});
  };
  panel(46, {"layer norm", "层归一化"}, [](size_t i, size_t) { return i == 1; });
  panel(232, {"batch norm", "批量归一化"}, [](size_t, size_t j) { return j == 1; });

  const Coordinates before = {2, 4, 4, 6, 9, 5};
  const Coordinates after = heed::layer_norm(heed::from_vector(before, {6}), {6}).to_vector<double>();
  const auto numbers = [&](double y, const Words& name, const Coordinates& values, int digits) {
    std::vector<Words> words;
    for (const double value : values) words.push_back("$" + heed::decimals(value, digits) + "$");
    draw.row({82, y, 270, 26}, words, {.color = kAccent, .round = 0, .size = 12});
    draw.label({8, y + 13}, name, {.size = 12, .align = "start"});
  };
  numbers(176, {"a word $x$", "一个词 $x$"}, before, 0);
  numbers(244, {"mean 0,\nvariance 1", "均值 0，\n方差 1"}, after, 2);
  draw.arrow({{217, 202}, {217, 244}}, {.color = kAccent});
  draw.label({229, 222}, {"$(x - μ) / σ$, $μ = 5$", "$(x - μ) / σ$，$μ = 5$"},
             {.size = 12, .align = "start"});
}

void transformer_block(Picture& draw) {
  enum Part { attention, feed_forward, norm, sum };
  const std::vector<Words> names = {
      {"attention", "注意力"}, {"feed-forward", "前馈网络"}, {"norm", "归一化"}, "+"};
  const auto block = [&](double x, const Words& name, const Words& formula, const std::vector<Part>& parts) {
    constexpr double kBelow = 378;
    Point from = {x, kBelow};
    double branch = kBelow - 12;
    draw.label({x, kBelow + 10}, "$x$");
    for (size_t i = 0; i < parts.size(); ++i) {
      const Point center = {x, 336 - 48 * static_cast<double>(i)};
      const bool is_sum = parts[i] == sum;
      const Look look = {.shade = parts[i] == norm || is_sum ? 0.0 : 0.2, .round = is_sum ? 11.0 : 4.0};
      const Box part = draw.box(around(center, is_sum ? 22 : 104, is_sum ? 22 : 26), names[parts[i]], look);
      draw.arrow({from, part.bottom()});
      if (is_sum)
        draw.arrow({{x, branch}, {x + 66, branch}, {x + 66, center.y}, part.right()},
                   {.color = kAccent, .width = 2});
      if (parts[i] == parts.back()) branch = part.y - 11;  // both sublayers end with the same part
      from = part.top();
    }
    draw.arrow({from, {x, 62}});
    draw.label({x, 14}, name);
    draw.label({x, 34}, formula, {.color = kSoft, .size = 12});
  };
  block(74, {"post-norm", "后置归一化"}, {"norm$(x + f(x))$", "norm$(x + f(x))$"},
        {attention, sum, norm, feed_forward, sum, norm});
  block(260, {"pre-norm", "前置归一化"}, {"$x + f($norm$(x))$", "$x + f($norm$(x))$"},
        {norm, attention, sum, norm, feed_forward, sum});
}

void transformer_stack(Picture& draw) {
  const auto stack = [&](double x, const Words& name, double top) {
    draw.box({x - 74, top, 148, 284 - top}, "", {.shade = 0.04, .round = 8});
    draw.label({x - 66, top + 14}, name, {.size = 12, .align = "start"});
    draw.label({x + 66, top + 14}, "$× N$", {.size = 12, .align = "end"});
  };
  const auto part = [&](double x, double y, const Words& name, Color color) {
    return draw.box(around({x, y}, 124, 30), name, {.color = color, .size = 12});
  };
  constexpr double kLeft = 82, kRight = 278;
  stack(kLeft, {"encoder", "编码器"}, 174);
  stack(kRight, {"decoder", "解码器"}, 122);

  const auto input = [&](double x, const Words& name) {
    const Box embedding = part(x, 315, {"words + positions", "词嵌入 + 位置"}, kSoft);
    draw.arrow({{x, 352}, embedding.bottom()});
    draw.label({x, 362}, name, {.size = 12});
    return embedding;
  };
  const Box source = input(kLeft, {"source", "源句"}),
            target = input(kRight, {"target so far", "已写出的目标词"});
  const Box self = part(kLeft, 261, {"self-attention", "自注意力"}, kAccent);
  const Box feed = part(kLeft, 213, {"feed-forward", "前馈网络"}, kSoft);
  const Box causal = part(kRight, 261, {"causal attention", "因果自注意力"}, kAccent);
  const Box cross = part(kRight, 213, {"cross-attention", "交叉注意力"}, kAccent);
  const Box decoded = part(kRight, 165, {"feed-forward", "前馈网络"}, kSoft);
  const Box output = part(kRight, 93, {"linear, softmax", "线性层、softmax"}, kSoft);

  draw.arrow({source.top(), self.bottom()});
  draw.arrow({self.top(), feed.bottom()});
  draw.arrow({target.top(), causal.bottom()});
  draw.arrow({causal.top(), cross.bottom()});
  draw.arrow({feed.right(), cross.left()});
  draw.arrow({cross.top(), decoded.bottom()});
  draw.arrow({decoded.top(), output.bottom()});
  draw.arrow({output.top(), {kRight, 50}});
  draw.label({kRight, 40}, {"next word", "下一个词"}, {.size = 12});
  draw.label({kRight + 10, 237}, "$Q$", {.color = kQuery, .size = 12, .align = "start"});
  draw.label({172, 201}, "$K$", {.color = kKey, .size = 12});
  draw.label({188, 201}, "$V$", {.color = kValue, .size = 12});
  draw.label({8, 100},
             {"Each sublayer has a\nresidual connection\nand a norm.", "每个子层都有\n残差连接和归一化"},
             {.color = kSoft, .size = 12, .align = "start"});
}

}  // namespace program::drawing
