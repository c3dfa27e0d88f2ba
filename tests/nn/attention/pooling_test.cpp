#include "nn/attention/pooling.h"

#include <doctest/doctest.h>

#include <cmath>

#include "autograd/engine.h"
#include "nn/layers/linear.h"
#include "nn/optim/optimizer.h"
#include "tests/support/expect.h"

using namespace heed;

// covers: C-000-01 C-000-09
TEST_CASE("attention_pool: the weighted mean of the values, for numbers, vectors and batches") {
  const Tensor weights = tensor({{0.25, 0.75}, {1, 0}}, float64);
  CHECK(attention_pool(weights, tensor({4, 8}, float64)).to_vector<double>() == std::vector<double>{7, 4});
  const Tensor values = tensor({{4, 0, 1}, {8, 4, 1}}, float64);
  const Tensor mixed = attention_pool(weights, values);
  CHECK(mixed.shape() == Shape{2, 3});
  CHECK(mixed.to_vector<double>() == std::vector<double>{7, 3, 1, 4, 0, 1});
  CHECK(attention_pool(expand(weights, {5, 2, 2}), expand(values, {5, 2, 3})).shape() == Shape{5, 2, 3});
  CHECK(attention_pool(expand(weights, {5, 2, 2}), values).shape() == Shape{5, 2, 3});
}

// covers: C-000-18
TEST_CASE("attention_pool: any weights will do; queries, keys and values each have a width of their own") {
  const Tensor q = randn({4, 2}, float64), k = randn({3, 5}, float64), v = randn({3, 7}, float64);
  const Tensor bilinear = randn({2, 5}, float64);
  const Tensor alpha = softmax(matmul(matmul(q, bilinear), transpose(k)), -1);
  const Tensor y = attention_pool(alpha, v);
  CHECK(y.shape() == Shape{4, 7});
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t c = 0; c < 7; ++c) {
      double mean = 0;
      for (int64_t j = 0; j < 3; ++j)
        mean += select(select(alpha, 0, i), 0, j).item() * select(select(v, 0, j), 0, c).item();
      CHECK(select(select(y, 0, i), 0, c).item() == doctest::Approx(mean).epsilon(1e-12));
    }
}

TEST_CASE("attention_pool: sizes that do not fit are named") {
  CHECK_THROWS_WITH(
      attention_pool(zeros({2, 3}), zeros({4, 5})),
      doctest::Contains(
          "attention_pool: weights [2, 3] are for 3 keys, values [4, 5] for 4; each key needs one value"));
  CHECK_THROWS_WITH(
      attention_pool(zeros({}), zeros({4})),
      doctest::Contains(
          "attention_pool: weights are [], values [4]; weights must be [..., queries, keys], values "
          "[..., keys, width]"));
}

// covers: C-002-03 C-003-15
TEST_CASE("AttentionPooling: score, normalise, weighted sum; keys that are values are given once") {
  manual_seed(2);
  const Tensor q = randn({2, 3, 4}), k = randn({2, 5, 6});
  const Mask mask = Mask::lengths(tensor({5, 2}, int64), 5);
  const AttentionPooling pooling{AdditiveScore(4, 6, 3)};
  const auto [y, weights] = pooling(q, k, k, mask);
  const Tensor by_hand = masked_softmax(pooling.score(q, k), mask.allowed());
  CHECK(largest_difference(weights, by_hand) == 0);
  CHECK(largest_difference(y, matmul(by_hand, k)) < 1e-6);
  CHECK(largest_difference(pooling(q, k, mask).output, y) == 0);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : pooling.state_dict()) names.push_back(name);
  CHECK(names == std::vector<std::string>{"W_k.weight", "W_q.weight", "w_v.weight"});
}

// covers: C-002-03 C-002-10
TEST_CASE("AttentionPooling: any score with any normaliser and any mask trains") {
  for (const std::string& score : score_names())
    for (const std::string& normaliser : normaliser_names())
      for (const int kind : {0, 1, 2}) {
        INFO(score, " ", normaliser, " ", kind);
        manual_seed(1);
        struct Model : Layer<Model> {
          Model(const std::string& score, const std::string& normaliser)
              : pooling(make_score(score, 4, 4, 8), make_normaliser(normaliser)) {}
          Tensor forward(const Tensor& x, const Mask& mask) const {
            return read(pooling(ask(x), x, mask).output);
          }
          void visit(Visitor& v) override {
            v("ask", ask);
            v("pooling", pooling);
            v("read", read);
          }
          Linear ask{4, 4}, read{4, 1};
          AttentionPooling<AnyScore, AnyNormaliser> pooling;
        } model(score, normaliser);
        const Tensor x = randn({8, 5, 4}), target = sum(x, {1, 2}, true) / 4;
        const Mask mask =
            kind == 0   ? Mask()
            : kind == 1 ? Mask::causal(5)
                        : Mask::lengths(tensor({5, 4, 3, 2, 1, 0, 5, 3}, int64), 5) & Mask::window(5, 3, 3);
        Adam optimizer(model.parameters(), {.lr = 0.02});
        double first = 0, last = 0;
        for (int step = 0; step < 60; ++step) {
          const Tensor loss = F::mse_loss(model(x, mask), expand(target, {8, 5, 1}));
          optimizer.zero_grad();
          loss.backward();
          for (const auto& [name, p] : model.named_parameters()) {
            INFO(name);
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
TEST_CASE("attention: 10,000 random masks, empty rows among them, equal a plain loop in float64") {
  manual_seed(17);
  Generator& draw = default_generator();
  int empty_rows = 0;
  double worst = 0;
  for (int trial = 0; trial < 10'000; ++trial) {
    const int64_t n = draw.integer(1, 5), m = draw.integer(1, 6), d = draw.integer(1, 4),
                  dv = draw.integer(1, 4);
    const DType dtype = trial % 2 ? float32 : float64;
    const Tensor q = randn({n, d}, dtype).requires_grad_(), k = randn({m, d}, dtype).requires_grad_();
    const Tensor v = randn({m, dv}, dtype).requires_grad_(), g = randn({n, dv}, dtype);
    const double share = draw.uniform();
    const Tensor allowed = rand({n, m}) < share;
    const Tensor y =
        F::scaled_dot_product_attention(q, k, v, {.mask = allowed, .need_weights = trial % 3 == 0}).output;
    y.backward(g);

    const auto Q = values(q), K = values(k), V = values(v), G = values(g), A = values(allowed);
    const auto at = [](const std::vector<double>& x, int64_t columns, int64_t i, int64_t j) {
      return x[static_cast<size_t>(i * columns + j)];
    };
    std::vector<double> Y(static_cast<size_t>(n * dv)), dQ(Q.size()), dK(K.size()), dV(V.size());
    for (int64_t i = 0; i < n; ++i) {
      std::vector<double> a(static_cast<size_t>(m)), da(static_cast<size_t>(m));
      double total = 0, mean = 0;
      for (int64_t j = 0; j < m; ++j) {
        double s = 0;
        for (int64_t c = 0; c < d; ++c) s += at(Q, d, i, c) * at(K, d, j, c);
        total += a[static_cast<size_t>(j)] =
            at(A, m, i, j) != 0 ? std::exp(s / std::sqrt(static_cast<double>(d))) : 0;
      }
      empty_rows += total == 0;
      for (size_t j = 0; j < a.size(); ++j) {
        const auto key = static_cast<int64_t>(j);
        a[j] = total > 0 ? a[j] / total : 0;
        for (int64_t c = 0; c < dv; ++c) {
          Y[static_cast<size_t>(i * dv + c)] += a[j] * at(V, dv, key, c);
          dV[static_cast<size_t>(key * dv + c)] += a[j] * at(G, dv, i, c);
          da[j] += at(V, dv, key, c) * at(G, dv, i, c);
        }
        mean += a[j] * da[j];
      }
      for (size_t j = 0; j < a.size(); ++j) {
        const double ds = a[j] * (da[j] - mean) / std::sqrt(static_cast<double>(d));
        for (int64_t c = 0; c < d; ++c) {
          dQ[static_cast<size_t>(i * d + c)] += ds * at(K, d, static_cast<int64_t>(j), c);
          dK[j * static_cast<size_t>(d) + static_cast<size_t>(c)] += ds * at(Q, d, i, c);
        }
      }
    }
    const auto compare = [&](const Tensor& got, const std::vector<double>& want) {
      const auto x = values(got);
      REQUIRE(x.size() == want.size());
      for (size_t i = 0; i < x.size(); ++i)
        worst = std::isnan(x[i]) ? INFINITY
                                 : std::max(worst, std::fabs(x[i] - want[i]) / (1 + std::fabs(want[i])));
    };
    compare(y, Y);
    compare(q.grad(), dQ);
    compare(k.grad(), dK);
    compare(v.grad(), dV);
  }
  CHECK(worst < 1e-5);
  CHECK(empty_rows > 1000);
}

TEST_CASE("AttentionPooling: a score and a normaliser may name their members alike") {
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

TEST_CASE("AttentionPooling: padding may hold anything; masks that do not fit and bad dropout are refused") {
  const Mask mask = Mask::lengths(tensor({2}, int64), 3);
  const auto run = [&](double filler) {
    manual_seed(1);
    const AttentionPooling pooling{AdditiveScore(2, 2, 4)};
    const Tensor q = ones({1, 1, 2}), k = tensor({{{1, 2}, {3, 4}, {filler, filler}}});
    const Tensor y = pooling(q, k, mask).output;
    y.backward(ones_like(y));
    std::vector<double> all = values(y);
    for (const Tensor& p : pooling.parameters())
      for (const double g : values(p.grad())) all.push_back(g);
    return all;
  };
  CHECK(run(std::nan("")) == run(0));
  const Tensor x = ones({1, 3, 2});
  CHECK(message([&] { AttentionPooling{DotScore()}(x, x, Mask(ones({4}, boolean))); }) ==
        "AttentionPooling: the mask is [4] and must broadcast to the scores, [..., Tq, Tk] = [1, 3, 3]: "
        "aligned "
        "at the right each of its sizes is the same or 1");
  CHECK(message([] { AttentionPooling(DotScore(), SoftmaxNormaliser(), {.dropout = -1}); }) ==
        "AttentionPooling: dropout is -1; a probability lies in [0, 1]");
}
