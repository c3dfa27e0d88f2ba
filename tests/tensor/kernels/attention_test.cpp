#include "tensor/kernels/attention.h"

#ifdef __linux__
#include <malloc.h>
#endif

#include <fstream>

#include "autograd/ops/attention.h"
#include "tensor/kernels/matmul.h"
#include "tests/support/references.h"

namespace {

// Attention that stores all weights.
Tensor composed(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
  return matmul(attention_weights(q, k, options), v);
}

// Compares blocked attention and its gradients with public operations, and the kernels with the plain loops.
// After query, key and value, `in` may have a position_bias and a sink_logit.
void check_attention(const std::string& what, const Tensors& in, const AttentionOptions& options = {},
                     double tolerance = 0) {
  if (tolerance == 0) tolerance = in[0].dtype() == float32 ? 1e-4 : 1e-12;
  const auto call = [&](auto& x) {
    AttentionOptions all = options;
    if (x.size() > 3) all.position_bias = x[3];
    if (x.size() > 4) all.sink_logit = x[4];
    manual_seed(5);
    return blocked_attention(x[0], x[1], x[2], all);
  };
  CHECK_MESSAGE(from_reference(call, in) <= tolerance, what);
  kernel::AttentionRule rule{options.scale.value_or(0.5), options.mask, options.bias};
  if (options.is_causal || options.window) rule.past = options.past;
  if (options.window) rule.window = *options.window;
  rule.sinks = options.sinks;
  rule.soft_cap = options.soft_cap;
  if (options.dropout_p > 0) {
    Generator generator(9);
    rule.dropout = DropoutFactors(options.dropout_p, 1, &generator);
  }
  if (in.size() > 3 && in[3].defined()) rule.positions = unsqueeze(in[3], -2);
  if (in.size() > 4 && in[4].defined()) rule.sink = unsqueeze(unsqueeze(in[4], -1), -1);
  const auto kernels = [&] {
    const kernel::AttentionResult y = kernel::attention(in[0], in[1], in[2], rule);
    const auto d = kernel::attention_backward(y.y, in[0], in[1], in[2], rule, y);
    Tensors all{y.y, y.log_totals, d.q, d.k, d.v};
    if (d.positions.defined()) all.push_back(d.positions);
    return all;
  };
  CHECK_MESSAGE(from_plain(kernels) <= tolerance, what);
}

struct Random {
  DType dtype = float64;
  Generator generator{7};

  Tensor operator()(const Shape& shape) { return randn(shape, dtype, &generator); }
  Tensors qkv(int64_t Tq, int64_t Tk, int64_t D, int64_t Dv, const Shape& lead = {2}) {
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

#ifdef __linux__
// A number of bytes in the status of this process.
double process_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (double kilobytes = 0; word == name && status >> kilobytes) return 1024 * kilobytes;
  return NAN;
}
#endif

}  // namespace

// Tiles have 128 queries and 512 keys.
TEST_CASE("blocked attention: sizes around tile boundaries") {
  for (const DType dtype : {float32, float64}) {
    Random random{dtype};
    for (const int64_t Tq : {1, 127, 128, 129})
      for (const int64_t Tk : {1, 3, 511, 512, 513, 1030})
        for (const bool causal : {false, true})
          check_attention(std::to_string(Tq) + " x " + std::to_string(Tk) + (causal ? " causal " : " ") +
                              to_string(dtype),
                          random.qkv(Tq, Tk, 5, 3, {}), {.is_causal = causal});
    check_attention("several strips a share", random.qkv(1300, 20, 2, 2, {}), {.is_causal = true});
    check_attention("several heads and shares", random.qkv(600, 20, 2, 2, {3}));
    check_attention("widths of 1", random.qkv(130, 140, 1, 1), {.is_causal = true});
    check_attention("scale", random.qkv(130, 600, 8, 8), {.scale = 0.7});
    check_attention("no keys", random.qkv(3, 0, 2, 2));
    check_attention("no width", random.qkv(3, 4, 0, 2), {.scale = 1});
  }
}

// The diagonal crosses every tile of keys: at queries 0 to 127, 512 to 639 and 1024 to 1099.
TEST_CASE("blocked attention: several tiles of queries and of keys, causal and not") {
  Random random;
  const Tensors in = random.qkv(1100, 1100, 4, 3, {});
  check_attention("causal", in, {.is_causal = true});
  check_attention("not causal", in);
}

TEST_CASE("blocked attention: masks and biases of every broadcast shape") {
  Random random;
  const int64_t Tq = 140, Tk = 530;
  const Tensors in = random.qkv(Tq, Tk, 4, 6, {2, 3});
  for (const Shape& shape :
       {Shape{2, 3, Tq, Tk}, Shape{2, 1, Tq, Tk}, Shape{3, 1, Tk}, Shape{Tq, 1}, Shape{Tk}, Shape{}}) {
    check_attention("sparse mask " + to_string(shape), in, {.mask = random.mask(shape, 0.002)});
    check_attention("bias " + to_string(shape), in, {.bias = random(shape)});
    check_attention("all three " + to_string(shape), in,
                    {.mask = random.mask(shape), .bias = random(shape), .is_causal = true});
  }
  check_attention("transposed mask", in, {.mask = transpose(random.mask({Tk, Tq}))});
  check_attention("nothing", in, {.mask = zeros({}, boolean)});
  check_attention(
      "biases of -inf", in,
      {.bias = where(random.mask({Tq, Tk}, 0.01), random({Tq, Tk}), full({}, -INFINITY, float64))});
}

TEST_CASE("blocked attention: any strides, and leading dimensions that broadcast") {
  Random random;
  const auto heads = [&](int64_t T) { return transpose(random({2, T, 3, 4}), 1, 2); };  // [B, H, T, D]
  check_attention("heads apart", {heads(130), heads(520), heads(520)});
  check_attention("columns", {transpose(random({4, 130})), transpose(random({4, 20})), random({20, 3})});
  check_attention("steps", {slice(random({60, 4}), 0, 0, 60, 2), slice(random({9, 8}), 1, 0, 8, 2),
                            transpose(slice(random({3, 18}), 1, 0, 18, 2))});
  check_attention("one head for all", {random({5, 3, 4}), random({1, 6, 4}), random({6, 2})});
  check_attention("values lead", {random({3, 4}), random({6, 4}), random({2, 5, 6, 2})});
  check_attention("mask leads", {random({3, 4}), random({6, 4}), random({6, 2})},
                  {.mask = random.mask({5, 1, 6})});
  check_attention("repeated", {expand(random({1, 4}), {7, 4}), expand(random({4}), {3, 6, 4}),
                               expand(random({1, 6, 1}), {3, 6, 5})});
}

TEST_CASE("blocked attention uses the same dropout factors for result, gradient and reference") {
  for (const DType dtype : {float32, float64}) {
    Random random{dtype};
    const auto with = [](const AttentionOptions& options) -> Call {
      return [options](const Tensors& x) {
        manual_seed(5);
        return blocked_attention(x[0], x[1], x[2], options);
      };
    };
    const double tolerance = dtype == float32 ? 1e-4 : 1e-12;
    for (const int64_t Tq : {1, 7, 130})
      for (const int64_t Tk : {2, 20, 513, 600}) {
        const Tensors in = random.qkv(Tq, Tk, 5, 3, {2, 3});
        CHECK(from_reference(with({.dropout_p = 0.3}), in) <= tolerance);
        CHECK(from_reference(with({.mask = random.mask({Tk}), .is_causal = true, .dropout_p = 0.6}), in) <=
              tolerance);
        CHECK(from_reference(with({.dropout_p = 1}), in) <= tolerance);
        CHECK(same_on_threads([&] { return value_and_gradients(with({.dropout_p = 0.3}), in); }));
      }
    CHECK(from_reference(with({.dropout_p = 0.3}), {random({3, 4}), random({6, 4}), random({2, 5, 6, 2})}) <=
          tolerance);
  }
  CHECK_ERROR_HAS(blocked_attention(ones({3, 4}), ones({3, 4}), ones({3, 4}), {.dropout_p = 1.5}),
                  "p is 1.5; a probability lies in [0, 1]");
}

// Every combination of the forms, over the borders of tiles of 96 queries and 256 keys.
TEST_CASE("blocked attention: windows, sinks, caps, positions, sink logits, masks and dropout together") {
  const int64_t Tq = 101, Tk = 270, past = 160;
  for (const DType dtype : {float32, float64})
    for (int which = 0; which < 128; which += dtype == float32 ? 3 : 1) {
      Random random{dtype};
      const auto has = [&](int bit) { return (which >> bit) % 2 == 1; };
      AttentionOptions options{.is_causal = has(0), .past = past};
      if (has(1)) options.window = has(2) ? 7 : 130;
      if (has(1) && has(3)) options.sinks = has(4) ? 3 : 259;
      if (has(2)) options.soft_cap = 0.6;
      if (has(5)) options.mask = random.mask({1, Tq, Tk}, 0.7);
      if (has(6) && has(4)) options.dropout_p = 0.3;
      Tensors in = random.qkv(Tq, Tk, 5, 3, {2});
      in.push_back(has(3) ? random({2, Tq + Tk - 1}) : Tensor());
      in.push_back(has(4) ? random({2}) : Tensor());
      check_attention("forms " + std::to_string(which) + " " + to_string(dtype), in, options);
    }
}

TEST_CASE("blocked attention: positions and sinks of every shape; many strips; nothing but a sink") {
  Random random;
  const int64_t Tq = 50, Tk = 30, n = Tq + Tk - 1;
  const Tensors in = random.qkv(Tq, Tk, 3, 2, {2, 3});
  const auto with = [&](Tensors all, const Tensor& table, const Tensor& sink) {
    all.push_back(table);
    all.push_back(sink);
    return all;
  };
  check_attention("for all heads", with(in, random({n}), random({})));
  check_attention("for each head", with(in, random({3, n}), random({3})), {.is_causal = true});
  check_attention("for each head and batch", with(in, random({2, 3, n}), random({2, 3})));
  check_attention("for each batch", with(in, random({2, 1, n}), random({2, 1})), {.soft_cap = 1});
  check_attention("columns", with(in, transpose(random({n, 3})), Tensor()));
  check_attention("repeated", with(in, expand(random({1}), {3, n}), expand(random({1}), {3})));
  check_attention("no keys", with(random.qkv(3, 0, 2, 2), random({2}), random({2})));
  check_attention("no queries", with(random.qkv(0, 3, 2, 2), random({2}), random({2})));
  check_attention("one of each", with(random.qkv(1, 1, 2, 2), random({1}), Tensor()));
  check_attention("sinks of -inf", with(in, Tensor(), full({3}, -INFINITY, float64)));
  check_attention("nothing but sinks", with(in, Tensor(), random({3})), {.mask = zeros({}, boolean)});
  const Tensors far = random.qkv(1300, 1300, 2, 2, {1});
  check_attention("many strips", with(far, random({2599}), random({1})), {.window = 40, .sinks = 2});
  check_attention("a window after many keys", random.qkv(2, 1300, 2, 2), {.past = 1298, .window = 5});
  check_attention("wider than all keys", in, {.window = INT64_MAX});
  const Tensors inputs = with(far, random({2599}), random({1}));
  CHECK(same_on_threads([&] {
    return value_and_gradients(
        [](auto& x) {
          return blocked_attention(x[0], x[1], x[2],
                                   {.window = 40, .soft_cap = 2, .position_bias = x[3], .sink_logit = x[4]});
        },
        inputs);
  }));
}

TEST_CASE("blocked attention is not finite where the composed one is not") {
  Random random{float32};
  for (const double bad : {NAN, INFINITY, -INFINITY})
    for (size_t which = 0; which < 2; ++which) {
      Tensors in = random.qkv(3, 4, 2, 2, {});
      const Tensor& operand = in[which];
      in[which] =
          reshape(where(arange(double(operand.numel())) == 3, bad, flatten(operand)), operand.shape());
      const Tensors got =
          value_and_gradients([](auto& x) { return blocked_attention(x[0], x[1], x[2]); }, in);
      const Tensors want = value_and_gradients([](auto& x) { return composed(x[0], x[1], x[2], {}); }, in);
      for (size_t i = 0; i < got.size(); ++i) CHECK(values(isfinite(got[i])) == values(isfinite(want[i])));
    }
  // Scores whose exponentials overflow.
  Tensors far = Random().qkv(6, 600, 2, 2);
  far[0] = far[0] * 2000;
  check_attention("far scores", far, {}, 1e-8);
}

// Also measures the memory of the process, since not all of it belongs to tensors.
// covers: C-003-20
TEST_CASE("the memory of blocked attention is linear, of the composed one quadratic") {
  if (reference_mode()) return;  // blocked attention is composed in reference mode
  const auto peak = [](const auto& f, int64_t T) {
    const Tensor x = randn({T, 16}).requires_grad_();
    reset_peak_memory();
    const size_t before = memory_use().live;
    sum(f(x, x, x, AttentionOptions{})).backward();
    return static_cast<double>(memory_use().peak - before);
  };
#ifdef __linux__
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;  // resets the peak
  const double before = process_bytes("VmRSS:");
  peak(blocked_attention, 4096);
  CHECK(process_bytes("VmHWM:") - before <
        4096.0 * 4096 * sizeof(float) / 2);  // half of one matrix of weights
#endif

  CHECK(peak(blocked_attention, 4096) / peak(blocked_attention, 2048) < 2.1);
  CHECK(peak(composed, 1024) / peak(composed, 512) > 3.7);
  CHECK(peak(blocked_attention, 4096) < peak(composed, 1024));
  const auto forms = [](const Tensor& q, const Tensor& k, const Tensor& v, AttentionOptions options) {
    options = {.window = 100, .sinks = 4, .soft_cap = 5};
    options.position_bias = zeros({2 * q.size(0) - 1}).requires_grad_();
    options.sink_logit = zeros({}).requires_grad_();
    return blocked_attention(q, k, v, options);
  };
  CHECK(peak(forms, 4096) / peak(forms, 2048) < 2.1);
}

TEST_CASE("blocked attention throws for operands that it does not accept") {
  const Tensor q = ones({3, 4}), k = ones({5, 4}), v = ones({5, 2});
  CHECK_ERROR_HAS(blocked_attention(q, k, ones({6, 2})),
                  "query is [3, 4], key is [5, 4], value is [6, 2]; they must be [..., Tq, D], [..., Tk, D], "
                  "[..., Tk, Dv]");
  CHECK_ERROR_HAS(attention_weights(q, ones({5, 3})),
                  "query is [3, 4], key is [5, 3]; they must be [..., Tq, D] and [..., Tk, D]");
  CHECK_ERROR_HAS(blocked_attention(q, k, ones({5, 2}, float64)), "must have one dtype");
  CHECK_ERROR_HAS(blocked_attention(q, k, v, {.mask = ones({3, 5})}), "must be bool");
  for (const AttentionOptions& options :
       {AttentionOptions{.bias = ones({3, 5}).requires_grad_()}, {.need_weights = true}})
    CHECK_ERROR_HAS(blocked_attention(q, k, v, options),
                    "and a bias that needs a gradient need the weights: use attention_weights");
  CHECK_ERROR_HAS(blocked_attention(q, k, v, {.score_map = [](const Tensor& s) { return s; }}),
                  "need the weights");
  CHECK_ERROR_HAS(blocked_attention(q, k, v, {.position_bias = ones({8})}),
                  "the position_bias is [8] and the scores [3, 5]; it must be [..., Tq + Tk - 1] = [..., 7]");
  CHECK_ERROR_HAS(blocked_attention(q, k, v, {.position_bias = ones({2, 7})}), "broadcast to []");
  CHECK_ERROR_HAS(blocked_attention(q, k, v, {.sink_logit = ones({2})}), "the sink_logit is [2] and must");
  CHECK_ERROR_HAS(blocked_attention(q, k, v, {.window = 0}), "the window is 0, sinks 0, soft_cap 0;");
  CHECK_ERROR_HAS(blocked_attention(q, k, v, {.sinks = 2}), "there are 2 sinks and no window");
  CHECK_ERROR_HAS(blocked_attention(q, k, v, {.soft_cap = -1}), "must not be negative");
  CHECK_ERROR_HAS(relative_shift(ones({3, 1})), "x is [3, 1]; it must be [..., Tq, Tq + Tk - 1]");
  CHECK_ERROR_HAS(blocked_attention(ones({1, 4}), k, v, {.mask = ones({2, 5}, boolean)}),
                  "must broadcast to the scores, [..., Tq, Tk] = [1, 5]");
}

#ifdef __FMA__
TEST_CASE("attention: the result of a query does not depend on later queries and keys") {
  manual_seed(8);
  const int64_t T = 40;
  const Tensor q = randn({2, T, 8}), k = randn({2, T, 8}), v = randn({2, T, 8});
  const auto upto = [](const Tensor& x, int64_t n) { return narrow(x, 1, 0, n); };
  const Tensor all = blocked_attention(q, k, v, {.is_causal = true});
  for (int64_t i = 0; i < T && kernel::has_own_product(float32); ++i) {
    const Tensor one = blocked_attention(narrow(q, 1, i, 1), upto(k, i + 1), upto(v, i + 1), {});
    CHECK(values(one) == values(narrow(all, 1, i, 1)));
  }
}
#endif
