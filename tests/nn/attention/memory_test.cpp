#include "nn/attention/memory.h"

#include "autograd/ops/elementary.h"
#include "nn/attention/multi_head.h"
#include "nn/debug/check_module.h"
#include "tests/support/expect.h"

using test::names;

TEST_CASE(
    "hopfield_retrieve: one update is attention; a fixed point; large beta retrieves the nearest pattern") {
  manual_seed(1);
  const Tensor X = randn({2, 6, 4}, float64), xi = randn({2, 3, 4}, float64);
  CHECK(largest_difference(F::hopfield_retrieve(xi, X, {.max_steps = 1}),
                           F::scaled_dot_product_attention(xi, X, X).output) == 0);
  CHECK(largest_difference(F::hopfield_retrieve(xi, X, {.max_steps = 0}), xi) == 0);
  const HopfieldOptions sharp{.beta = 1000, .tolerance = 1e-13};
  const Tensor unit = X / sqrt(sum(square(X), -1, true));  // a longer pattern would attract the others
  const Tensor near = F::hopfield_retrieve(unit + 0.01 * randn({2, 6, 4}, float64), unit, sharp);
  CHECK(largest_difference(near, unit) < 1e-6);
  const HopfieldOptions soft{.beta = 0.7, .max_steps = 1000, .tolerance = 1e-13};
  const Tensor settled = F::hopfield_retrieve(xi, X, soft);
  CHECK(largest_difference(matmul(softmax(0.7 * matmul(settled, transpose(X)), -1), X), settled) < 1e-12);
  const Mask first(arange(6, int64) < 1);
  CHECK(largest_difference(F::hopfield_retrieve(xi, X, {.mask = first}),
                           expand(narrow(X, 1, 0, 1), {2, 3, 4})) < 1e-12);
  const Tensor counted_patterns = 2 * sin(counted({5, 3}, float64) * 1.3 + 0.2);
  const Tensor start = sin(counted({2, 3}, float64) * 0.7 + 0.1);
  const Values once{-1.00617751463971, 1.2983445124543,   1.70078878710509,
                    1.97808540021518,  0.249515428909386, -1.84459523030114};
  const Values fixed{-1.23627123784567, 1.18414849581373,  1.86978790894115,
                     1.97871649323999,  0.248908847007784, -1.84555084322223};
  CHECK(largest_difference(values(F::hopfield_retrieve(start, counted_patterns, {.beta = 4, .max_steps = 1})),
                           once) < 1e-12);
  CHECK(largest_difference(values(F::hopfield_retrieve(start, counted_patterns,
                                                       {.beta = 4, .max_steps = 1000, .tolerance = 1e-13})),
                           fixed) < 1e-10);
  const auto f = [](const Tensors& x) {
    return F::hopfield_retrieve(x[0], x[1], {.beta = 1, .max_steps = 3});
  };
  CHECK(gradcheck(f, {fresh(xi).requires_grad_(), fresh(X).requires_grad_()}));
  CHECK_ERROR_HAS(F::hopfield_retrieve(xi, X, {.max_steps = -1}), "hopfield_retrieve: max_steps is -1");
}

TEST_CASE("Hopfield: with one step it is softmax attention; causal, masked and cached") {
  manual_seed(2);
  const MultiheadAttention plain = in_float64(MultiheadAttention(8, 2));
  const auto with_steps = [&](int64_t steps) {
    MultiheadAttention attention(8, 2, {.core = Hopfield{{.max_steps = steps, .tolerance = 0}}});
    attention.to(float64);
    attention.load_state_dict(plain.state_dict());
    return attention;
  };
  const Tensor x = randn({2, 5, 8}, float64);
  const AttentionOptions causal{.is_causal = true};
  CHECK(largest_difference(with_steps(1)(x, causal).output, plain(x, causal).output) < 1e-13);
  const MultiheadAttention three = with_steps(3);
  const Tensor whole = three(x, causal).output;
  CHECK(magnitude(whole - plain(x, causal).output) > 1e-3);
  KeyValueCache cache;
  for (int64_t t = 0; t < 5; ++t)
    CHECK(largest_difference(three(narrow(x, 1, t, 1), causal, &cache).output, narrow(whole, 1, t, 1)) <
          1e-12);
}

TEST_CASE("PoolingCore: with scaled dot products and softmax it is softmax attention; another score learns") {
  manual_seed(3);
  const MultiheadAttention plain = in_float64(MultiheadAttention(8, 2));
  MultiheadAttention pooled =
      in_float64(MultiheadAttention(8, 2, {.core = PoolingCore{AttentionPooling(ScaledDotScore())}}));
  pooled.load_state_dict(plain.state_dict());
  const Tensor x = randn({3, 5, 8}, float64);
  const Mask lengths = Mask::lengths(tensor({5, 2, 0}, int64), 5);
  CHECK(largest_difference(pooled(x, lengths).output, plain(x, lengths).output) < 1e-12);
  const AttentionOptions causal{.is_causal = true};
  const Tensor whole = plain(x, causal).output;
  KeyValueCache cache;
  for (int64_t t = 0; t < 5; ++t)
    CHECK(largest_difference(pooled(narrow(x, 1, t, 1), causal, &cache).output, narrow(whole, 1, t, 1)) <
          1e-12);
  CHECK_ERROR_HAS(pooled(x, AttentionOptions{.bias = zeros({5, 5}, float64)}), "no place for a bias");

  const MultiheadAttention additive(
      8, 2, {.core = PoolingCore{AttentionPooling(AdditiveScore(4, 4, 5), NearestNormaliser{2})}});
  CHECK(names(additive.named_parameters())[4] == "core.W_q.weight");
  const ModuleReport report =
      check_module(additive, {randn({2, 3, 8})},
                   [](const MultiheadAttention& m, const Tensors& in) { return m(in[0]).output; });
  CHECK_MESSAGE(bool(report), to_string(report));
}

TEST_CASE("NearestNormaliser: the softmax over the largest scores; masks; gradients of the chosen alone") {
  const NearestNormaliser two{2};
  const Tensor scores = leaf({{1, 3, 2, 0}, {4, 4, 1, 5}});
  const Tensor weights = two(scores, {});
  const double e = std::exp(1.0);
  CHECK(largest_difference(
            weights, tensor({{0, e / (1 + e), 1 / (1 + e), 0}, {1 / (1 + e), 0, 0, e / (1 + e)}}, float64)) <
        1e-14);
  const Tensor gradient = grad({sum(weights * counted({2, 4}, float64))}, {scores})[0];
  CHECK(gradient[{0, 0}].item() == 0);
  CHECK(gradient[{0, 1}].item() != 0);
  const Mask mask = tensor({{1, 0, 1, 1}, {0, 0, 0, 0}}, boolean);
  CHECK(largest_difference(two(scores, mask),
                           tensor({{1 / (1 + e), 0, e / (1 + e), 0}, {0, 0, 0, 0}}, float64)) < 1e-14);
  CHECK(largest_difference(NearestNormaliser{9}(scores, {}), softmax(scores, -1)) < 1e-14);
  CHECK(NearestNormaliser()(ones({2, 0}), {}).shape() == Shape{2, 0});
  manual_seed(4);
  const Tensor x = randn({3, 6}, float64).requires_grad_();
  CHECK(gradcheck([&](const Tensors& in) { return two(in[0], {}); }, {x}));
  CHECK(gradgradcheck([&](const Tensors& in) { return two(in[0], {}); }, {x}));
  CHECK_ERROR_HAS(NearestNormaliser{0}(x, {}), "NearestNormaliser: neighbors is 0");

  const AttentionPooling nearest{GaussianScore(), NearestNormaliser{1}};
  const Tensor keys = randn({6, 4}), values = randn({6, 2});
  CHECK(largest_difference(nearest(keys, keys, values).output, values) < 1e-6);
}
