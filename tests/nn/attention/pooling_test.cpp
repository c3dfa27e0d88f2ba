#include "nn/attention/pooling.h"

#include <doctest/doctest.h>

#include "autograd/ops.h"

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
      "attention_pool: weights [2, 3] are for 3 keys, values [4, 5] for 4; each key needs one value");
  CHECK_THROWS_WITH(
      attention_pool(zeros({}), zeros({4})),
      "attention_pool: weights are [], values [4]; weights must be [..., queries, keys], values "
      "[..., keys, width]");
}
