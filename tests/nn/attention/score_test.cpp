#include "nn/attention/score.h"

#include "autograd/ops/elementwise.h"
#include "nn/attention/pooling.h"
#include "tests/support/expect.h"

// A score in float64 against a formula for one query and one key; gradients of queries, keys and members.
template <class S, class F>
static void check_score(S score, int64_t dq, int64_t dk, const F& formula) {
  const auto module = in_float64(AttentionPooling<S>(std::move(score)));
  Generator generator(7);
  const Tensor q = randn({2, 3, dq}, float64, &generator).requires_grad_();
  const Tensor k = randn({2, 4, dk}, float64, &generator).requires_grad_();
  const Tensor scores = module.score(q, k);
  REQUIRE(scores.shape() == Shape{2, 3, 4});
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < 4; ++j) {
        const Tensor one = formula(module.score, q[{b, i}].detach(), k[{b, j}].detach());
        CHECK(scores[{b, i, j}].item() == doctest::Approx(one.item()).epsilon(1e-12));
      }
  Tensors inputs = {q, k};
  for (const Tensor& p : module.parameters()) inputs.push_back(p);
  const auto f = [&](const Tensors& in) { return module.score(in[0], in[1]); };
  CHECK(gradcheck(f, inputs));
  CHECK(gradgradcheck(f, inputs));
}

// covers: C-002-05 C-002-08
TEST_CASE("DotScore: q . k; ScaledDotScore: q . k / sqrt(d)") {
  check_score(DotScore(), 5, 5, [](auto&, const Tensor& q, const Tensor& k) { return dot(q, k); });
  check_score(ScaledDotScore(), 5, 5,
              [](auto&, const Tensor& q, const Tensor& k) { return dot(q, k) / std::sqrt(5.0); });
}

// covers: C-002-07
TEST_CASE("AdditiveScore: w_v . tanh(W_q q + W_k k), queries and keys of different widths") {
  check_score(AdditiveScore(2, 5, 4), 2, 5, [](auto& s, const Tensor& q, const Tensor& k) {
    return dot(s.w_v.weight[0], tanh(mv(s.W_q.weight, q) + mv(s.W_k.weight, k)));
  });
}

// covers: C-002-09
TEST_CASE("BilinearScore: q . (W k), in either order") {
  check_score(BilinearScore(2, 5), 2, 5, [](auto& s, const Tensor& q, const Tensor& k) {
    REQUIRE(s.W.weight.shape() == Shape{2, 5});
    return dot(q, mv(s.W.weight, k));
  });
  check_score(BilinearScore(2, 5, BilinearScore::Order::key_query), 2, 5,
              [](auto& s, const Tensor& q, const Tensor& k) {
                REQUIRE(s.W.weight.shape() == Shape{5, 2});
                return dot(k, mv(s.W.weight, q));
              });
}

// covers: C-002-09
TEST_CASE("LowRankBilinearScore: W = L^T H gives two linear maps and a dot product") {
  check_score(LowRankBilinearScore(3, 5, 2), 3, 5, [](auto& s, const Tensor& q, const Tensor& k) {
    return dot(mv(s.L.weight, q), mv(s.H.weight, k));
  });
  const LowRankBilinearScore low(3, 5, 2);
  BilinearScore full(3, 5);
  full.W.weight = matmul(t(low.L.weight), low.H.weight).detach();
  const Tensor q = randn({4, 3}), k = randn({6, 5});
  CHECK(largest_difference(full(q, k), low(q, k)) < 1e-5);
}

// covers: C-002-06
TEST_CASE("DenseScore: q . tanh(W k + b), which is not the additive score") {
  check_score(DenseScore(3, 5), 3, 5, [](auto& s, const Tensor& q, const Tensor& k) {
    return dot(q, tanh(mv(s.W.weight, k) + s.W.bias));
  });
}

// covers: C-000-11
TEST_CASE("GaussianScore: -(|q - k| w)^2 / 2 with a learned w") {
  check_score(GaussianScore(1.5), 3, 3,
              [](auto&, const Tensor& q, const Tensor& k) { return -0.5 * sum(square((q - k) * 1.5)); });
}

TEST_CASE("CosineScore: beta cos(q, k); a query of length 0 scores 0") {
  check_score(CosineScore(2.5), 3, 3, [](auto& s, const Tensor& q, const Tensor& k) {
    return s.beta * dot(q, k) / sqrt(sum(square(q)) * sum(square(k)));
  });
  CHECK(magnitude(CosineScore()(zeros({2, 3}), randn({4, 3}))) == 0);
}

TEST_CASE("make_score: by name") {
  for (const std::string& name : score_names()) {
    INFO(name);
    CHECK(make_score(name, 4, 4, 3)(randn({2, 4}), randn({5, 4})).shape() == Shape{2, 5});
  }
  CHECK_ERROR(make_score("cosine", 4, 4, 3),
              "make_score: there is no score cosine; there are dot, scaled_dot, additive, bilinear, "
              "low_rank, dense, gaussian");
}

TEST_CASE("scores: errors name the widths") {
  CHECK_ERROR(DotScore()(zeros({2, 3}), zeros({4, 5})),
              "DotScore: queries are [2, 3], keys [4, 5]; they must be [..., Tq, d] and [..., Tk, d] of one "
              "width (bilinear and additive scores take two)");
  CHECK_THROWS_AS(ScaledDotScore()(zeros({}), zeros({4, 5})), Error);
  CHECK_THROWS_AS(AdditiveScore(3, 4, 5)(zeros({2, 4}), zeros({2, 3})), Error);
}
