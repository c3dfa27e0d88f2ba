#include "nn/attention/scaled_dot_product.h"

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/elementary.h"
#include "autograd/ops/scan.h"

#include "nn/view/capture.h"
#include "tests/support/references.h"

// The output for {queries, keys, values}.
static Tensor attended(const Tensors& in, const AttentionOptions& options = {}) {
  return F::scaled_dot_product_attention(in[0], in[1], in[2], options).output;
}

// covers: C-001-02
TEST_CASE("attention: a worked example, and masks") {
  const Tensor q = tensor({{1, 0, 1}, {0, 1, 1}}), k = tensor({{1, 0, 0}, {0, 1, 1}});
  const Tensor v = tensor({{1, 0}, {0, 1}});
  const auto [y, weights] = F::scaled_dot_product_attention(q, k, v, {.need_weights = true});
  // scores [[1, 1], [0, 2]] / sqrt 3
  const double e = std::exp(2 / std::sqrt(3.0));
  const auto w = values(weights);
  CHECK(w[0] == doctest::Approx(0.5));
  CHECK(w[3] == doctest::Approx(e / (1 + e)));
  CHECK(values(y)[3] == doctest::Approx(e / (1 + e)));
  CHECK_FALSE(F::scaled_dot_product_attention(q, k, v).weights.defined());

  const auto causal = F::scaled_dot_product_attention(q, k, v, {.is_causal = true, .need_weights = true});
  CHECK(values(causal.weights)[0] == 1);
  CHECK(values(causal.weights)[1] == 0);
  const Tensor mask = tensor({{0, 1}, {0, 0}}) > 0;
  const Tensor leaf = q.detach().requires_grad_();
  const auto masked = F::scaled_dot_product_attention(leaf, k, v, {.mask = mask, .need_weights = true});
  CHECK(values(masked.weights) == Values{0, 1, 0, 0});  // the second query may attend to nothing
  CHECK(values(masked.output) == Values{0, 1, 0, 0});
  masked.output.backward(ones({2, 2}));
  CHECK(values(leaf.grad()) == Values{0, 0, 0, 0, 0, 0});
  const Tensor bias = tensor({{-kInf, 0}, {-kInf, -kInf}});
  for (const bool need_weights : {true, false})  // a bias of -inf is a mask
    CHECK(values(attended({q, k, v}, {.bias = bias, .need_weights = need_weights})) == Values{0, 1, 0, 0});
  const auto even = F::scaled_dot_product_attention(q, k, v, {.scale = 0, .need_weights = true});
  CHECK(values(even.weights) == Values{0.5, 0.5, 0.5, 0.5});
}

// covers: C-000-18
TEST_CASE("attention: sizes of queries, keys and values may differ; batches broadcast") {
  Generator generator(1);
  const Tensor q = randn({2, 3, 4, 5}, float64, &generator), k = randn({3, 6, 5}, float64, &generator);
  const Tensor v = randn({3, 6, 7}, float64, &generator);
  CHECK(attended({q, k, v}).shape() == Shape{2, 3, 4, 7});
  const auto f = [](const Tensors& in) { return attended(in, {.is_causal = true}); };
  CHECK(gradcheck(f, {q.requires_grad_(), k.requires_grad_(), v.requires_grad_()}));
  CHECK_ERROR_HAS(F::scaled_dot_product_attention(q, v, v),
                  "scaled_dot_product_attention: query is [2, 3, 4, 5], key is [3, 6, 7], value is [3, 6, "
                  "7]; they must be [..., Tq, D], [..., Tk, D], [..., Tk, Dv]");
}

TEST_CASE("attention: grouped heads are those of repeated keys, with every option, and no copy of the keys") {
  Generator generator(2);
  const Tensor q = randn({2, 6, 40, 4}, float64, &generator), bias = randn({6, 40, 50}, float64, &generator);
  const Tensor table = randn({6, 89}, float64, &generator), sink = randn({6}, float64, &generator);
  for (const int64_t groups : {1, 2, 3, 6}) {
    const Tensor k = randn({2, groups, 50, 4}, float64, &generator),
                 v = randn({2, groups, 50, 3}, float64, &generator);
    const auto repeated = [&](const Tensor& x) {
      return index_select(x, 1, to(arange(6, float64) * double(groups) / 6, int64));
    };
    for (AttentionOptions options :
         {AttentionOptions{}, AttentionOptions{.mask = rand({2, 1, 40, 50}) < 0.6, .bias = bias},
          AttentionOptions{.mask = rand({6, 40, 50}) < 0.6, .is_causal = true, .past = 10},
          AttentionOptions{
              .past = 10, .window = 7, .sinks = 2, .soft_cap = 1, .position_bias = table, .sink_logit = sink},
          AttentionOptions{.bias = bias.detach().requires_grad_(), .need_weights = true}}) {
      const AttentionOptions plain = options;
      options.enable_gqa = true;
      const Tensors grouped = value_and_gradients([&](auto& in) { return attended(in, options); }, {q, k, v});
      const Tensors want = value_and_gradients(
          [&](auto& in) {
            return attended({in[0], repeated(in[1]), repeated(in[2])}, plain);
          },
          {q, k, v});
      CHECK(distance(grouped, want) < 1e-12);
      const AttentionScope scope;
      CHECK(distance(value_and_gradients([&](auto& in) { return attended(in, options); }, {q, k, v}),
                     grouped) == 0);
      CHECK(scope.weights("").shape() == Shape{2, 6, 40, 50});
    }
  }
  if (!reference_mode()) {
    const NoGrad guard;
    const Tensor one = randn({1, 64, 1, 8}), keys = randn({1, 1, 4000, 8});
    reset_peak_memory();
    const size_t before = memory_use().live;
    attended({one, keys, keys}, {.enable_gqa = true});
    CHECK(memory_use().peak - before < 4000 * 8 * sizeof(float));
  }
  const Tensor k = ones({2, 4, 50, 4}, float64);
  CHECK_ERROR_HAS(attended({q, k, k}, {.enable_gqa = true}),
                  "query [2, 6, 40, 4] has 6 heads, and key [2, 4, 50, 4] has 4; the second number must "
                  "divide the first");
  const Tensor k2 = ones({2, 2, 50, 4}, float64);
  CHECK_ERROR_HAS(attended({q, k2, k2}, {.mask = ones({4, 40, 50}, boolean), .enable_gqa = true}),
                  "the mask is [4, 40, 50] and must broadcast to the scores, [..., Tq, Tk] = [2, 6, 40, 50]");
  CHECK_ERROR_HAS(attended({q[0][0], k2[0][0], k2[0][0]}, {.enable_gqa = true}), "[..., Hkv, Tk, Dv]");
}

TEST_CASE("attention: maps of scores and weights") {
  const Tensor q = randn({3, 4}, float64), k = randn({5, 4}, float64), v = randn({5, 2}, float64);
  const auto twice = [](const Tensor& s) { return 2 * s; };
  const Tensor bias = randn({3, 5}, float64);
  const auto [y, weights] = F::scaled_dot_product_attention(
      q, k, v, {.bias = bias, .need_weights = true, .score_map = twice, .weight_map = twice});
  CHECK(largest_difference(weights, 2 * attention_weights(q, k, {.bias = bias, .scale = 1})) < 1e-14);
  CHECK(largest_difference(y, matmul(weights, v)) < 1e-14);
}

TEST_CASE("attention: an AttentionScope does not change the bits, fused or not") {
  const Tensor k = randn({2, 140, 8}), v = randn({2, 140, 5}), bias = randn({140});
  const Mask mask = rand({140, 140}) < 0.5;
  for (const auto& options : {F::AttentionOptions{}, F::AttentionOptions{.is_causal = true},
                              F::AttentionOptions{.mask = mask, .bias = bias, .scale = 0.2},
                              F::AttentionOptions{.bias = bias.detach().requires_grad_()},
                              F::AttentionOptions{.need_weights = true}}) {
    const Tensor q = randn({2, 140, 8}).requires_grad_();
    const auto run = [&] {
      const Tensor y = attended({q, k, v}, options);
      return std::pair(values(y), values(grad({sum(y * y)}, {q})[0]));
    };
    const auto outside = run();
    const AttentionScope scope;
    CHECK(run() == outside);
    REQUIRE(scope.calls().size() == 1);
    F::AttentionOptions asked = options;
    asked.need_weights = true;
    const Tensor weights = F::scaled_dot_product_attention(q, k, v, asked).weights;
    CHECK(largest_difference(scope.weights(""), weights) == 0);
    CHECK_FALSE(scope.weights("").requires_grad());
  }
}

// covers: C-100-01
TEST_CASE("attention: NaN in keys that no query may attend to has no influence, fused or not") {
  const int64_t Tq = 300, Tk = 600;  // several tiles of the blocked form
  const Tensor q = randn({2, Tq, 4}), k = randn({2, Tk, 4}), v = randn({2, Tk, 4});
  const Mask padding = Mask::lengths(tensor({Tk, 130}, int64), Tk);
  const AttentionOptions ways[] = {{.mask = padding},
                                   {.mask = padding & Mask(rand({2, Tq, Tk}) < 0.5)},
                                   {.mask = padding & Mask::causal(Tq, Tk - Tq)},
                                   {.mask = padding, .is_causal = true, .past = Tk - Tq}};
  for (const bool need_weights : {false, true})
    for (AttentionOptions options : ways)
      for (const double bad : {kNaN, kInf, 0.0}) {
        options.need_weights = need_weights;
        const Tensor seen = transpose(padding.allowed());
        const auto run = [&](double filler) {
          return value_and_gradients([&](auto& in) { return attended(in, options); },
                                     {q, where(seen, k, filler), where(seen, v, filler)});
        };
        const Tensors clean = run(1), with_bad = run(bad);
        for (size_t i = 0; i < clean.size(); ++i)
          CHECK((all(isfinite(clean[i])).item<bool>() && largest_difference(clean[i], with_bad[i]) == 0));
      }
}

TEST_CASE("attention: a mask or bias that does not broadcast to the scores is named") {
  const Tensor x = ones({2, 3, 4});
  CHECK_ERROR(F::scaled_dot_product_attention(x, x, x, {.mask = ones({2, 4, 3}, boolean)}),
              "scaled_dot_product_attention: the mask is [2, 4, 3] and must broadcast to the scores, [..., "
              "Tq, Tk] = [2, 3, 3]: aligned at the right each of its sizes is the same or 1");
  for (const bool need_weights : {false, true})
    CHECK_ERROR_HAS(attended({x, x, x}, {.bias = ones({4}), .need_weights = need_weights}),
                    "the bias is [4] and must");
}
