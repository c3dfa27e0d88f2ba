#include "nn/attention/pooling.h"

#include "autograd/ops/elementwise.h"
#include "nn/attention/scaled_dot_product.h"
#include "nn/optim/adaptive.h"
#include "tests/support/expect.h"

using test::names;

// covers: C-000-01 C-000-09
TEST_CASE("attention_pool: the weighted mean of the values, for numbers, vectors and batches") {
  const Tensor weights = tensor({{0.25, 0.75}, {1, 0}}, float64);
  CHECK(values(attention_pool(weights, tensor({4, 8}, float64))) == Values{7, 4});
  const Tensor vectors = tensor({{4, 0, 1}, {8, 4, 1}}, float64);
  const Tensor mixed = attention_pool(weights, vectors);
  CHECK(mixed.shape() == Shape{2, 3});
  CHECK(values(mixed) == Values{7, 3, 1, 4, 0, 1});
  CHECK(attention_pool(expand(weights, {5, 2, 2}), expand(vectors, {5, 2, 3})).shape() == Shape{5, 2, 3});
  CHECK(attention_pool(expand(weights, {5, 2, 2}), vectors).shape() == Shape{5, 2, 3});
}

// covers: C-000-18
TEST_CASE("attention_pool: any weights work; queries, keys and values may differ in width") {
  const Tensor q = randn({4, 2}, float64), k = randn({3, 5}, float64), v = randn({3, 7}, float64);
  const Tensor bilinear = randn({2, 5}, float64);
  const Tensor alpha = softmax(matmul(matmul(q, bilinear), transpose(k)), -1);
  const Tensor y = attention_pool(alpha, v);
  REQUIRE(y.shape() == Shape{4, 7});
  for (int64_t i = 0; i < 4; ++i) {
    Tensor mean = zeros({7}, float64);
    for (int64_t j = 0; j < 3; ++j) mean = mean + alpha[{i, j}] * v[j];
    CHECK(largest_difference(y[i], mean) < 1e-12);
  }
}

TEST_CASE("attention_pool: errors name the sizes") {
  CHECK_ERROR_HAS(
      attention_pool(zeros({2, 3}), zeros({4, 5})),
      "attention_pool: weights [2, 3] are for 3 keys, values [4, 5] for 4; each key needs one value");
  CHECK_ERROR_HAS(attention_pool(zeros({}), zeros({4})),
                  "attention_pool: weights are [], values [4]; weights must be [..., queries, keys], values "
                  "[..., keys, width]");
}

// covers: C-002-03
TEST_CASE("AttentionPooling: three stages, each with the result of the one before") {
  const Tensor q = randn({2, 3, 4}), k = randn({2, 5, 6}), v = randn({2, 5, 7});
  const Tensor some_scores = randn({2, 3, 5}), some_weights = randn({2, 3, 5});
  const Mask mask = Mask::lengths(tensor({5, 2}, int64), 5);
  std::string stages;
  const auto score = [&](const Tensor& queries, const Tensor& keys) {
    stages += "score ";
    CHECK(queries.same_as(q));
    CHECK(keys.same_as(k));
    return some_scores;
  };
  const auto normaliser = [&](const Tensor& scores, const Mask& given) {
    stages += "normalize ";
    CHECK(scores.same_as(some_scores));
    CHECK(given.allowed().same_as(mask.allowed()));
    return some_weights;
  };
  const AttentionPooling pooling{score, normaliser};
  const auto [y, weights] = pooling(q, k, v, mask);
  CHECK(stages == "score normalize ");
  CHECK(weights.same_as(some_weights));
  CHECK(largest_difference(y, matmul(some_weights, v)) == 0);
}

// covers: C-002-03 C-003-15
TEST_CASE("AttentionPooling: with an additive score and softmax; one tensor for keys and values") {
  manual_seed(2);
  const Tensor q = randn({2, 3, 4}), k = randn({2, 5, 6});
  const Mask mask = Mask::lengths(tensor({5, 2}, int64), 5);
  const AttentionPooling pooling{AdditiveScore(4, 6, 3)};
  const auto [y, weights] = pooling(q, k, k, mask);
  const Tensor by_hand = masked_softmax(pooling.score(q, k), mask.allowed());
  CHECK(largest_difference(weights, by_hand) == 0);
  CHECK(largest_difference(y, matmul(by_hand, k)) < 1e-6);
  CHECK(largest_difference(pooling(q, k, mask).output, y) == 0);
  CHECK(names(pooling.state_dict()) == Texts{"W_k.weight", "W_q.weight", "w_v.weight"});
}

TEST_CASE("CachedKeys: mapped once in a decoder's loop, with equal results and gradients") {
  manual_seed(3);
  const Mask mask = Mask::lengths(tensor({5, 2}, int64), 5);
  for (const std::string name : {"additive", "bilinear", "low_rank", "dense", "dot"}) {
    INFO(name);
    const auto pooling = in_float64(AttentionPooling<AnyScore>(make_score(name, 4, 4, 3)));
    const Tensor states = randn({2, 5, 4}, float64).requires_grad_(), q = randn({2, 3, 4}, float64);
    const auto loop = [&](const CachedKeys& keys, bool held) {
      Tensors contexts;
      for (int64_t t = 0; t < 3; ++t)
        contexts.push_back(held ? pooling(narrow(q, 1, t, 1), keys, states, mask).output
                                : pooling(narrow(q, 1, t, 1), states, mask).output);
      return cat(contexts, 1);
    };
    const auto results = [&](bool held) {
      const Tensor y = loop(states, held);
      Tensors leaves = pooling.parameters();
      leaves.push_back(states);
      Tensors all = grad({sum(y * y)}, leaves);
      all.push_back(y);
      return all;
    };
    const auto once = results(true), each = results(false);
    CHECK(largest_difference(once.back(), each.back()) == 0);
    for (size_t i = 0; i < once.size(); ++i) CHECK(largest_difference(once[i], each[i]) < 1e-12);

    // The same keys after recording was switched off and on, and after a write to the weights.
    const CachedKeys keys(states);
    unrecorded([&] { CHECK_FALSE(loop(keys, true).requires_grad()); });
    CHECK(grad({sum(loop(keys, true))}, {states})[0].defined());
    unrecorded([&] {
      for (const Tensor& p : pooling.parameters()) mul_(p, -2);
    });
    CHECK(largest_difference(loop(keys, true), loop(keys, false)) == 0);
  }
  const Linear W(4, 3), other(4, 3);
  const CachedKeys keys(ones({5, 4}));
  CHECK(keys.mapped_by(W).same_as(keys.mapped_by(W)));
  CHECK(largest_difference(keys.mapped_by(other), other(keys)) == 0);
}

// covers: C-002-10
TEST_CASE("AttentionPooling: any score with any normaliser and any mask trains") {
  const Mask lengths = Mask::lengths(tensor({5, 4, 3, 2, 1, 0, 5, 3}, int64), 5);
  for (const std::string& score : score_names())
    for (const std::string& normaliser : normaliser_names())
      for (const Mask& mask : {Mask(), Mask::causal(5), lengths & Mask::window(5, 3, 3)}) {
        INFO(score, " ", normaliser, "\n", to_string(mask));
        manual_seed(1);
        const Linear ask(4, 4), read(4, 1);
        const AttentionPooling<AnyScore, AnyNormaliser> pooling(make_score(score, 4, 4, 8),
                                                                make_normaliser(normaliser));
        Tensors leaves = pooling.parameters();
        for (const Linear* layer : {&ask, &read})
          for (const Tensor& p : layer->parameters()) leaves.push_back(p);
        const Tensor x = randn({8, 5, 4}), target = sum(x, {1, 2}, true) / 4;
        Adam optimizer(leaves, {.lr = 0.02});
        double first = 0, last = 0;
        for (int step = 0; step < 60; ++step) {
          const Tensor loss = F::mse_loss(read(pooling(ask(x), x, mask).output), expand(target, {8, 5, 1}));
          optimizer.zero_grad();
          loss.backward();
          for (const Tensor& p : leaves) {
            REQUIRE(p.grad().defined());
            REQUIRE(all(isfinite(p.grad())).item<bool>());
          }
          optimizer.step();
          (step < 5 ? first : last) += step < 5 || step >= 55 ? loss.item() : 0;
        }
        CHECK(last < 0.9 * first);
      }
}

// covers: C-100-02 C-100-01
TEST_CASE("attention: 10,000 random masks, some with empty rows, agree with a plain loop in float64") {
  manual_seed(17);
  Generator& draw = default_generator();
  int empty_rows = 0;
  for (int trial = 0; trial < 10'000; ++trial) {
    const int64_t n = draw.integer(1, 5), m = draw.integer(1, 6), d = draw.integer(1, 4),
                  dv = draw.integer(1, 4);
    const DType dtype = trial % 2 ? float32 : float64;
    const Tensor q = randn({n, d}, dtype), k = randn({m, d}, dtype), v = randn({m, dv}, dtype);
    const Tensor allowed = rand({n, m}) < draw.uniform(), g = randn({n, dv}, dtype);
    const auto results = [&](DType precision, const auto& attend) {
      Tensors in;
      for (const Tensor& x : {q, k, v}) in.push_back(to(x, precision).detach().requires_grad_());
      const Tensor y = attend(in[0], in[1], in[2]);
      Tensors all = grad({sum(y * to(g, precision))}, in);
      all.push_back(y);
      return all;
    };
    const auto got = results(dtype, [&](const Tensor& Q, const Tensor& K, const Tensor& V) {
      return F::scaled_dot_product_attention(Q, K, V, {.mask = allowed, .need_weights = trial % 3 == 0})
          .output;
    });
    // A loop over the queries and the keys that each may attend to.
    const auto want = results(float64, [&](const Tensor& Q, const Tensor& K, const Tensor& V) {
      Tensors rows;
      for (int64_t i = 0; i < n; ++i) {
        Tensor sums = 0 * sum(Q) + zeros({dv}, float64), total = zeros({}, float64);
        for (int64_t j = 0; j < m; ++j) {
          if (!allowed[{i, j}].item<bool>()) continue;
          const Tensor e = exp(dot(Q[i], K[j]) / std::sqrt(static_cast<double>(d)));
          sums = sums + e * V[j];
          total = total + e;
        }
        const bool empty = total.item() == 0;
        empty_rows += empty;
        rows.push_back(empty ? sums : sums / total);
      }
      return stack(rows) + 0 * (sum(K) + sum(V));
    });
    for (size_t i = 0; i < got.size(); ++i)
      REQUIRE(largest_difference(got[i], want[i]) < 1e-5 * (1 + magnitude(want[i])));
  }
  CHECK(empty_rows > 1000);
}

TEST_CASE("AttentionPooling: score and normaliser may have members of the same name") {
  struct Sharp {
    Tensor operator()(const Tensor& scores, const Mask& mask) const {
      return masked_softmax(scores * w, mask.allowed());
    }
    void visit(Visitor& v) { v("w", w); }
    Parameter w = full({1}, 2);
  };
  const AttentionPooling pooling{GaussianScore(3), Sharp()};
  const StateDict state = pooling.state_dict();
  CHECK(state.at("w").item() == 3);
  CHECK(state.at("normaliser.w").item() == 2);
}

TEST_CASE("AttentionPooling: NaN in padding has no influence; errors") {
  const Mask mask = Mask::lengths(tensor({2}, int64), 3);
  const auto run = [&](double filler) {
    manual_seed(1);
    const AttentionPooling pooling{AdditiveScore(2, 2, 4)};
    const Tensor q = ones({1, 1, 2}), k = tensor({{{1, 2}, {3, 4}, {filler, filler}}});
    const Tensor y = pooling(q, k, mask).output;
    y.backward(ones_like(y));
    Values all = values(y);
    for (const Tensor& p : pooling.parameters())
      for (const double g : values(p.grad())) all.push_back(g);
    return all;
  };
  CHECK(run(std::nan("")) == run(0));
  const Tensor x = ones({1, 3, 2});
  CHECK_ERROR_HAS(AttentionPooling{DotScore()}(x, x, Mask(ones({4}, boolean))),
                  "the mask is [4] and must broadcast to the scores, [..., Tq, Tk] = [1, 3, 3]: aligned at "
                  "the right each of its sizes is the same or 1");
  const auto means = [](const Tensor& q, const Tensor& k) { return mean(matmul(q, transpose(k)), -1); };
  CHECK_ERROR(
      AttentionPooling{means}(x, x),
      "AttentionPooling: queries are [1, 3, 2], keys [1, 3, 2], but the score made [1, 3]; it must be "
      "[..., Tq, Tk]");
  const auto largest = [](const Tensor& scores, const Mask&) { return max(scores, -1).values; };
  CHECK_ERROR(AttentionPooling(DotScore(), largest)(x, x),
              "AttentionPooling: the scores are [1, 3, 3], but the normaliser made [1, 3]; it must keep the "
              "shape");
  CHECK_ERROR(AttentionPooling(DotScore(), SoftmaxNormaliser(), {.dropout = -1}),
              "AttentionPooling: dropout is -1; a probability lies in [0, 1]");
}
