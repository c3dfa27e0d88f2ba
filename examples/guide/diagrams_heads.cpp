#include "examples/guide/diagrams_heads.h"

#include "autograd/ops/shape.h"
#include "nn/attention/mask.h"
#include "tensor/create.h"

namespace program::drawing {

void multi_head(Picture& draw) {
  constexpr size_t kHeads = 3;
  const Box x = draw.matrix({144, 8, 72, 36}, 3, 6);
  const Box joined{144, 250, 72, 36};
  for (size_t head = 0; head < kHeads; ++head) {
    const std::string number = std::to_string(head + 1);
    const double center = 64 + 116 * static_cast<double>(head);
    const double share = (static_cast<double>(head) + 0.5) / kHeads,
                 shade = 0.15 + 0.2 * static_cast<double>(head);
    const Box group = draw.box({center - 50, 76, 100, 58}, "", {.shade = 0});
    const auto part = [&](double at, const std::string& letter, Color color) {
      draw.label({at, 88}, "$" + letter + "_" + number + "$", {.color = color, .size = 12});
      draw.matrix({at - 9, 100, 18, 27}, 3, 2, color);
    };
    part(center - 32, "Q", kQuery);
    part(center, "K", kKey);
    part(center + 32, "V", kValue);
    const Box attention =
        draw.box({center - 50, 154, 100, 26}, {"attention " + number, "注意力 " + number}, {.size = 12});
    const Box output = draw.shaded({center - 12, 200, 24, 36}, 3, std::vector<double>(6, shade));
    const Box place = draw.shaded(joined.cell(0, 1, head, kHeads), 3, std::vector<double>(6, shade));
    draw.arrow({x.bottom(share), group.top()});
    draw.arrow({group.bottom(), attention.top()});
    draw.arrow({attention.bottom(), output.top()});
    draw.arrow({output.bottom(), place.top()});
  }
  const Box output = draw.matrix({144, 326, 72, 36}, 3, 6);
  draw.arrow({joined.bottom(), output.top()});

  const auto size = [&](Point at, const Words& words) {
    draw.label(at, words, {.color = kSoft, .size = 11, .align = "start"});
  };
  draw.label({132, 26}, "$X$", {.align = "end"});
  size({224, 26}, "$[T, d]$");
  size({82, 218}, "$[T, d / H]$");
  draw.label({132, 268}, {"joined", "拼接"}, {.align = "end"});
  size({224, 268}, "$[T, d]$");
  draw.label({190, 305}, "$W_O$", {.align = "start"});
  draw.label({132, 344}, {"output", "输出"}, {.align = "end"});
  size({224, 344}, "$[T, d]$");
}

void masks(Picture& draw) {
  constexpr size_t kT = 6;
  const auto legend = [&](double x, const Words& words, bool allowed) {
    draw.mask({x, 152, 16, 16}, 1, {allowed});
    draw.label({x + 22, 160}, words, {.size = 12, .align = "start"});
  };
  const auto panel = [&](double x, const Words& name, const heed::Mask& mask) {
    const Box all{x, 40, 96, 96};
    draw.label({x + 48, 12}, name);
    for (size_t i = 0; i < kT; ++i)
      draw.label({all.cell(0, 1, i, kT).center().x, 31}, std::to_string(i + 1), {.color = kSoft, .size = 11});
    draw.mask(all, kT, heed::expand(mask.allowed(), {1, kT, kT}).to_vector<bool>());
  };
  panel(24, {"padding", "填充掩码"}, heed::Mask::lengths(heed::tensor({4}, heed::int64), kT));
  panel(140, {"causal", "因果掩码"}, heed::Mask::causal(kT));
  panel(256, {"window", "窗口掩码"}, heed::Mask::window(kT, 1, 1));
  for (size_t i = 0; i < kT; ++i)
    draw.label({14, 48 + 16 * static_cast<double>(i)}, std::to_string(i + 1), {.color = kSoft, .size = 11});
  legend(24, {"may attend", "可以关注"}, true);
  legend(140, {"forbidden: weight 0", "禁止：权重为 0"}, false);
  draw.label({24, 188}, {"a row for each query, a column for each key", "每行一个查询，每列一个键"},
             {.color = kSoft, .size = 12, .align = "start"});
}

void key_value_cache(Picture& draw) {
  constexpr size_t kT = 5;
  const auto panel = [&](double x, const Words& title, const Words& scores, const Words& made, bool cache) {
    const Box all{x + 28, 66, 100, 100}, queries{x, 66, 22, 100};
    draw.label({x + 78, 14}, title);
    const auto is_new = [&](size_t i) { return !cache || i == kT - 1; };
    for (size_t i = 0; i < kT; ++i) {
      const std::string number = std::to_string(i + 1) + "$";
      const auto vector = [&](const Box& where, const std::string& letter, Color color) {
        draw.box(
            where, "$" + letter + "_" + number,
            {.color = color, .shade = is_new(i) ? 0.35 : 0, .round = 0, .dashed = !is_new(i), .size = 11});
      };
      vector(Box{x + 28, 38, 100, 22}.cell(0, 1, i, kT), "k", kKey);
      vector(Box{x + 28, 172, 100, 22}.cell(0, 1, i, kT), "v", kValue);
      if (!is_new(i)) continue;
      vector(queries.cell(i, kT, 0, 1), "q", kQuery);
      for (size_t j = 0; j < kT; ++j) {
        draw.shaded(all.cell(i, kT, j, kT), 1, {0.35});
        if (j > i) draw.hatched(all.cell(i, kT, j, kT));
      }
    }
    if (cache) draw.label({x + 78, 106}, {"not needed", "无需重算"}, {.color = kSoft, .size = 12});
    draw.label({x + 78, 214}, scores, {.color = kAccent});
    draw.label({x + 78, 233}, made, {.size = 12});
  };
  panel(20, {"without a cache", "不用缓存"}, {"25 scores", "25 个评分"}, {"5 keys and values", "5 对键和值"},
        false);
  panel(206, {"with a cache", "用缓存"}, {"5 scores", "5 个评分"}, {"1 key and value", "1 对键和值"}, true);

  const auto legend = [&](double x, const Words& words) {
    draw.label({x + 22, 262}, words, {.size = 11, .align = "start"});
    return Box{x, 254, 16, 16};
  };
  draw.shaded(legend(8, {"computed now", "这一步计算"}), 1, {0.35}, kSoft);
  draw.box(legend(128, {"from the cache", "取自缓存"}), "", {.shade = 0, .round = 0, .dashed = true});
  draw.hatched(legend(260, {"forbidden", "禁止"}));
}

}  // namespace program::drawing
