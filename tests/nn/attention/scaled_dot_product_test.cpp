#include "nn/attention/scaled_dot_product.h"

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
