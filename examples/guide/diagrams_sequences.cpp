#include "examples/guide/diagrams_sequences.h"

#include "tensor/table.h"

namespace program::drawing {

namespace {

Words with_index(const std::string& letter, size_t i) { return "$" + letter + "_" + std::to_string(i) + "$"; }

// The example sentence. English pages have its sounds.
const std::vector<Words> kSource = {{"wǒ", "我"}, {"ài", "爱"}, {"zhōng", "中"}, {"guó", "国"}};
const std::vector<Words> kTarget = {"I", "love", "China"};

}  // namespace

void unrolled_recurrence(Picture& draw) {
  const auto step = [&](double x, const Words& input, const Words& state, const Stroke& in,
                        const Stroke& out) {
    const Box f = draw.box(around({x, 90}, 32, 32), "$f$");
    draw.arrow({{x, 142}, f.bottom()}, in);
    draw.arrow({f.top(), {x, 38}}, out);
    draw.label({x, 152}, input);
    draw.label({x, 26}, state);
    return f;
  };
  const Stroke path = {.color = kAccent, .width = 2.4};

  const Box folded = step(32, "$x_t$", "$h_t$", {}, {});
  draw.arrow({{32, 58}, {66, 58}, {66, 90}, folded.right()});
  draw.label({72, 74}, "$h_{t-1}$", {.size = 12, .align = "start"});
  draw.label({116, 90}, "=", {.size = 18});

  draw.label({142, 90}, "$h_0$");
  Point from = {152, 90};
  for (size_t t = 1; t <= 4; ++t) {
    const double x = 186 + 50 * static_cast<double>(t - 1);
    const Box f =
        step(x, with_index("x", t), with_index("h", t), t == 1 ? path : Stroke{}, t == 4 ? path : Stroke{});
    draw.arrow({from, f.left()}, t == 1 ? Stroke{} : path);
    from = f.right();
  }
  draw.label({180, 182},
             {"the same $f$ with the same weights at every step", "每一步用同一个 $f$，参数也相同"},
             {.size = 12});
  draw.label({180, 203}, {"$x_1$ reaches $h_4$ only through four steps", "$x_1$ 要经过四步才能到达 $h_4$"},
             {.color = kAccent, .size = 12});
}

void one_context(Picture& draw) {
  const Box c = draw.box(around({184, 96}, 30, 44), "$c$", {.color = kAccent, .shade = 0.3});
  Point from{};
  for (size_t j = 0; j < 4; ++j) {
    const double x = 22 + 40 * static_cast<double>(j);
    const Box h = draw.box(around({x, 96}, 28, 28), with_index("h", j + 1));
    draw.arrow({{x, 144}, h.bottom()});
    draw.label({x, 155}, with_index("x", j + 1));
    draw.label({x, 174}, kSource[j], {.size = 11});
    if (j > 0) draw.arrow({from, h.left()});
    from = h.right();
  }
  draw.arrow({from, c.left()}, {.color = kAccent, .width = 2.4});
  for (size_t i = 0; i < 3; ++i) {
    const double x = 238 + 50 * static_cast<double>(i);
    const Box s = draw.box(around({x, 96}, 28, 28), with_index("s", i + 1));
    draw.arrow({s.top(), {x, 54}});
    draw.label({x, 44}, kTarget[i]);
    draw.arrow({i == 0 ? c.right() : from, s.left()}, {.color = i == 0 ? kAccent : kSoft});
    draw.arrow({c.bottom(), {184, 140}, {x - 25, 140}, {x - 25, 70}, {x - 7, 54}}, {.color = kAccent});
    from = s.right();
  }
  draw.label({82, 16}, {"encoder", "编码器"});
  draw.label({288, 16}, {"decoder", "解码器"});
  draw.label({184, 52}, {"one vector\nfor all", "整句只有\n一个向量"}, {.color = kAccent, .size = 11});
}

void context_for_each_word(Picture& draw) {
  const std::vector<std::vector<double>> scores = {{3, 0.5, -1, -1}, {0, 3, 0, -1}, {-1, 0, 2.6, 2.2}};
  const auto h_at = [](size_t j) { return 90 + 76 * static_cast<double>(j); };
  const auto c_at = [](size_t i) { return 104 + 100 * static_cast<double>(i); };
  std::string sum;
  for (size_t i = 0; i < 3; ++i) {
    const std::vector<double> weights = softmax_of(scores[i]);
    for (size_t j = 0; j < 4; ++j) {
      draw.weight({h_at(j), 212}, {c_at(i), 146}, weights[j],
                  i == 2 ? Look{.color = kAccent, .shade = 1} : Look{.shade = 0.65});
      if (i == 2) sum += (j ? " + " : "") + heed::decimals(weights[j], 2) + " h_" + std::to_string(j + 1);
    }
  }
  for (size_t i = 0; i < 3; ++i) {
    const double x = c_at(i);
    const Box s = draw.box(around({x, 74}, 36, 28), with_index("s", i + 1), {.color = kQuery});
    const Box c =
        draw.box(around({x, 132}, 36, 28), with_index("c", i + 1), {.color = i == 2 ? kAccent : kSoft});
    draw.arrow({s.bottom(), c.top()}, {.color = kQuery});
    draw.arrow({c.right(), {x + 30, 132}, {x + 30, 50}, {x + 9, 32}});
    draw.arrow({s.top(), {x, 32}});
    draw.label({x, 20}, kTarget[i]);
    if (i > 0) draw.arrow({{c_at(i - 1) + 18, 74}, s.left()});
  }
  for (size_t j = 0; j < 4; ++j) {
    const double x = h_at(j);
    const Box h = draw.box(around({x, 226}, 36, 28), with_index("h", j + 1), {.color = kKey});
    draw.arrow({{x, 270}, h.bottom()});
    draw.label({x, 280}, kSource[j], {.size = 12});
    if (j > 0) draw.arrow({{h_at(j - 1) + 18, 226}, h.left()});
  }
  const auto name = [&](double y, const Words& words, Color color) {
    draw.label({6, y}, words, {.color = color, .size = 11, .align = "start"});
  };
  name(74, {"decoder:\nqueries", "解码器：\n查询"}, kQuery);
  name(132, {"contexts", "上下文"}, kInk);
  name(226, {"encoder:\nkeys and\nvalues", "编码器：\n键和值"}, kKey);
  draw.label({180, 308}, "$c_3 = " + sum + "$", {.color = kAccent, .size = 12});
}

}  // namespace program::drawing
