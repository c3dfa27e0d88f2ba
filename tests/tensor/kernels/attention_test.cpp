#include "tensor/kernels/attention.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "heed.h"
#include "tensor/memory.h"
#include "tests/support/expect.h"

using namespace heed;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

using Values = std::vector<double>;

// attention_weights times the values: what blocked_attention must give.
Tensor twin(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionScores& scores) {
  return matmul(attention_weights(q, k, scores), v);
}

// The result and the gradients of q, k and v for one incoming gradient.
template <class F>
std::vector<Tensor> run(const F& f, const std::vector<Tensor>& in, const AttentionScores& scores) {
  std::vector<Tensor> leaves;
  for (const Tensor& x : in) leaves.push_back(x.detach().requires_grad_());
  const Tensor y = f(leaves[0], leaves[1], leaves[2], scores);
  Generator generator(3);
  backward({y}, {.grad_outputs = {randn(y.shape(), y.dtype(), &generator)}});
  std::vector<Tensor> all{y.detach()};
  for (const Tensor& x : leaves) all.push_back(x.grad());
  return all;
}

void check_like_twin(const std::string& what, const std::vector<Tensor>& in,
                     const AttentionScores& scores = {}, double tolerance = 0) {
  if (tolerance == 0) tolerance = in[0].dtype() == float32 ? 2e-5 : 1e-12;
  const auto got = run(blocked_attention, in, scores), want = run(twin, in, scores);
  const std::string names[] = {"y", "dq", "dk", "dv"};
  for (size_t i = 0; i < got.size(); ++i)
    CHECK_MESSAGE(largest_difference(got[i], want[i]) <= tolerance, what, ": ", names[i]);
}

struct Random {
  DType dtype = float64;
  Generator generator{7};

  Tensor operator()(const Shape& shape) { return randn(shape, dtype, &generator); }
  std::vector<Tensor> qkv(int64_t Tq, int64_t Tk, int64_t D, int64_t Dv, const Shape& lead = {2}) {
    const auto with = [&](int64_t rows, int64_t columns) {
      Shape shape = lead;
      shape.push_back(rows);
      shape.push_back(columns);
      return (*this)(shape);
    };
    return {with(Tq, D), with(Tk, D), with(Tk, Dv)};
  }
  Tensor mask(const Shape& shape, double share = 0.5) { return rand(shape, dtype, &generator) < share; }
};

}  // namespace

// Tiles have 128 queries and 512 keys.
TEST_CASE("blocked attention is the composed one, around the borders of its tiles") {
  for (const DType dtype : {float32, float64}) {
    Random random{dtype};
    for (const int64_t Tq : {1, 2, 127, 128, 129, 300})
      for (const int64_t Tk : {1, 3, 511, 512, 513, 1030})
        for (const bool causal : {false, true}) {
          if (Tq == 2 && Tk > 3) continue;
          const std::string what = std::to_string(Tq) + " x " + std::to_string(Tk) +
                                   (causal ? " causal " : " ") + to_string(dtype);
          check_like_twin(what, random.qkv(Tq, Tk, 5, 3, {}), {.is_causal = causal});
        }
    check_like_twin("several tiles a pile", random.qkv(1300, 20, 2, 2, {}), {.is_causal = true});
    check_like_twin("several heads and piles", random.qkv(600, 20, 2, 2, {3}));
    check_like_twin("widths of 1", random.qkv(130, 140, 1, 1), {.is_causal = true});
    check_like_twin("scale", random.qkv(130, 600, 8, 8), {.scale = 0.7});
    check_like_twin("scale 0", random.qkv(4, 5, 2, 2), {.scale = 0});
  }
}

TEST_CASE("blocked attention with masks and biases of every broadcast shape") {
  Random random;
  const int64_t Tq = 140, Tk = 530;
  const auto in = random.qkv(Tq, Tk, 4, 6, {2, 3});
  for (const Shape& shape :
       {Shape{2, 3, Tq, Tk}, Shape{2, 1, Tq, Tk}, Shape{3, 1, Tk}, Shape{Tq, 1}, Shape{Tk}, Shape{}}) {
    for (const double share : {0.5, 0.002})
      check_like_twin("mask " + to_string(shape), in, {.mask = random.mask(shape, share)});
    check_like_twin("bias " + to_string(shape), in, {.bias = random(shape)});
    check_like_twin("all three " + to_string(shape), in,
                    {.mask = random.mask(shape), .bias = random(shape), .is_causal = true});
  }
  check_like_twin("transposed mask", in, {.mask = transpose(random.mask({Tk, Tq}))});
  check_like_twin("nothing", in, {.mask = zeros({}, boolean)});
  check_like_twin("biases of -inf", in,
                  {.bias = where(random.mask({Tq, Tk}, 0.01), random({Tq, Tk}), full({}, -kInf, float64))});
  const Tensor y = blocked_attention(in[0], in[1], in[2], {.mask = random.mask({3, 1, 1}, 0.3)});
  CHECK(max(abs(y)).item() < kInf);
}

TEST_CASE("blocked attention takes any strides, and broadcasts what leads") {
  Random random;
  const auto heads = [&](int64_t T) { return transpose(random({2, T, 3, 4}), 1, 2); };  // [B, H, T, D]
  check_like_twin("heads apart", {heads(130), heads(520), heads(520)});
  check_like_twin("columns", {transpose(random({4, 130})), transpose(random({4, 20})), random({20, 3})});
  check_like_twin("steps", {slice(random({60, 4}), 0, 0, 60, 2), slice(random({9, 8}), 1, 0, 8, 2),
                            transpose(slice(random({3, 18}), 1, 0, 18, 2))});
  check_like_twin("one head for all", {random({5, 3, 4}), random({1, 6, 4}), random({6, 2})});
  check_like_twin("values lead", {random({3, 4}), random({6, 4}), random({2, 5, 6, 2})});
  check_like_twin("mask leads", {random({3, 4}), random({6, 4}), random({6, 2})},
                  {.mask = random.mask({5, 1, 6})});
  check_like_twin("repeated", {expand(random({1, 4}), {7, 4}), expand(random({4}), {3, 6, 4}),
                               expand(random({1, 6, 1}), {3, 6, 5})});
}

TEST_CASE("blocked attention of nothing") {
  Random random;
  for (const auto& [Tq, Tk, D, Dv] : {std::array<int64_t, 4>{0, 3, 2, 2}, {3, 0, 2, 2}, {3, 4, 2, 0}})
    check_like_twin("no elements", random.qkv(Tq, Tk, D, Dv));
  check_like_twin("no heads", random.qkv(3, 4, 2, 2, {0}));
  check_like_twin("no width", random.qkv(3, 4, 0, 2), {.scale = 1});
}

TEST_CASE("blocked attention with numbers that are not finite is where the composed one is") {
  Random random{float32};
  for (const double bad : {std::nan(""), kInf, -kInf})
    for (int which = 0; which < 2; ++which) {
      auto in = random.qkv(3, 4, 2, 2, {});
      std::vector<double> numbers = values(in[static_cast<size_t>(which)]);
      numbers[3] = bad;
      in[static_cast<size_t>(which)] = from_vector(numbers, in[static_cast<size_t>(which)].shape(), float32);
      const auto got = run(blocked_attention, in, {}), want = run(twin, in, {});
      for (size_t i = 0; i < got.size(); ++i) CHECK(values(isfinite(got[i])) == values(isfinite(want[i])));
    }
  // Scores whose exponentials overflow.
  auto far = Random().qkv(6, 600, 2, 2);
  far[0] = (far[0] * 2000).detach();
  check_like_twin("far scores", far, {}, 1e-8);
}

TEST_CASE("second derivatives of blocked attention come from its twin") {
  Random random;
  const auto in = random.qkv(3, 4, 2, 2);
  std::vector<Tensor> leaves;
  for (const Tensor& x : in) leaves.push_back(x.detach().requires_grad_());
  const auto second = [&](const auto& f) {
    const Tensor y = sum(square(f(leaves[0], leaves[1], leaves[2], AttentionScores{.is_causal = true})));
    const auto first = grad({y}, leaves, {.create_graph = true});
    return grad({sum(square(first[0])) + sum(square(first[1]))}, leaves);
  };
  const auto got = second(blocked_attention), want = second(twin);
  for (size_t i = 0; i < got.size(); ++i) CHECK(largest_difference(got[i], want[i]) < 1e-10);
}

// covers: C-003-20
TEST_CASE("the memory of blocked attention is linear, of the composed one quadratic") {
  if (reference_mode()) return;  // the twin is the composed one
  const auto peak = [](const auto& f, int64_t T) {
    const Tensor x = randn({2, T, 16}).requires_grad_();
    reset_peak_memory();
    const size_t before = memory_use().live;
    sum(f(x, x, x, AttentionScores{})).backward();
    return static_cast<double>(memory_use().peak - before);
  };
  CHECK(peak(blocked_attention, 2048) / peak(blocked_attention, 1024) < 2.1);
  CHECK(peak(twin, 1024) / peak(twin, 512) > 3.7);
  CHECK(peak(blocked_attention, 2048) < peak(twin, 512));
}

TEST_CASE("blocked attention gives the same bits on any number of threads") {
  Random random{float32};
  for (const Shape& lead : {Shape{}, Shape{3}, Shape{20}}) {
    const auto in = random.qkv(700, 600, 16, 8, lead);
    const auto on = [&](int threads) {
      const Threads guard(threads);
      Values bits;
      for (const Tensor& x : run(blocked_attention, in, {.is_causal = true}))
        for (const double v : values(x)) bits.push_back(v);
      return bits;
    };
    const Values one = on(1);
    CHECK(on(2) == one);
    CHECK(on(3) == one);
  }
}

TEST_CASE("blocked attention refuses what it cannot do") {
  const Tensor q = ones({3, 4}), k = ones({5, 4}), v = ones({5, 2});
  CHECK(message([&] {
          blocked_attention(q, k, ones({6, 2}));
        }) ==
        "blocked_attention: key is [5, 4], value is [6, 2]; they must be [..., Tk, D] and [..., Tk, Dv]");
  CHECK(message([&] {
          blocked_attention(q, ones({5, 3}), v);
        }) ==
        "blocked_attention: query is [3, 4], key is [5, 3]; they must be [..., Tq, D] and [..., Tk, D]");
  CHECK(message([&] {
          blocked_attention(q, k, ones({5, 2}, float64));
        }).find("must have one dtype") != std::string::npos);
  CHECK(message([&] {
          blocked_attention(q, k, v, {.mask = ones({3, 5})});
        }).find("must be bool") != std::string::npos);
  CHECK(message([&] {
          blocked_attention(q, k, v, {.bias = ones({3, 5}).requires_grad_()});
        }).find("a bias that needs a gradient") != std::string::npos);
  CHECK(message([&] {
          blocked_attention(ones({1, 4}), k, v, {.mask = ones({2, 5}, boolean)});
        }).find("must broadcast to [..., Tq, Tk]") != std::string::npos);
}
