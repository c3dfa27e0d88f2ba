#include "nn/attention/position_bias.h"

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/elementary.h"
#include "autograd/ops/scan.h"
#include "nn/attention/multi_head.h"
#include "tests/support/expect.h"

TEST_CASE("AlibiBias: slopes for head counts that are powers of two and others; distances of both signs") {
  CHECK(AlibiBias(8).slopes == Values{1. / 2, 1. / 4, 1. / 8, 1. / 16, 1. / 32, 1. / 64, 1. / 128, 1. / 256});
  CHECK(AlibiBias(1).slopes == Values{1. / 256});
  CHECK(AlibiBias(6).slopes == Values{0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125});
  CHECK(AlibiBias(3).slopes == Values{0.0625, 0.00390625, 0.25});
  CHECK(values(AlibiBias(2)(tensor({-2, 0, 1}))) == Values{-0.125, 0, -0.0625, -2. / 256, 0, -1. / 256});
  CHECK_ERROR(AlibiBias(0), "AlibiBias: num_heads is 0; it must be positive");
}

// Numbers of transformers' T5Attention._relative_position_bucket.
TEST_CASE("T5Bias: buckets, and a row of the embedding for each") {
  const Tensor distances = tensor({-200, -127, -64, -20, -8, -7, -1, 0, 1, 7, 8, 11, 12, 16, 50, 128});
  CHECK(values(T5Bias::bucket(distances)) ==
        Values{15, 15, 14, 10, 8, 7, 1, 0, 17, 23, 24, 24, 25, 26, 29, 31});
  CHECK(values(T5Bias::bucket(tensor({-200, -64, -20, -16, -15, -1, 0, 3}), {.bidirectional = false})) ==
        Values{31, 26, 17, 16, 15, 1, 0, 0});
  T5Bias bias(2, {.num_buckets = 4, .max_distance = 3});
  CHECK(magnitude(bias.relative_attention_bias.weight) == 0);
  bias.relative_attention_bias.weight = tensor({{0, 10}, {1, 11}, {2, 12}, {3, 13}});
  CHECK(values(bias(tensor({-5, 0, 2}))) == Values{1, 0, 3, 11, 10, 13});
  CHECK_ERROR_HAS(T5Bias(2, {.num_buckets = 1}), "num_buckets is 1, max_distance 128");
  CHECK_ERROR_HAS(T5Bias(2, {.max_distance = 8}), "must be above the number of exact ones, 8");
}

TEST_CASE("local_bias: a Gaussian around each query's position, with gradients to it") {
  const Tensor centers = tensor({0.5, 2}, float64).requires_grad_();
  CHECK(values(local_bias(centers, 3, 2)) == Values{-0.03125, -0.03125, -0.28125, -0.5, -0.125, 0});
  CHECK(gradcheck([](auto& x) { return local_bias(x[0], 3, 0.7); }, {centers}));
  // As a bias it multiplies the weights by exp of it and normalizes again.
  const Tensor q = randn({2, 4}, float64), k = randn({3, 4}, float64);
  const Tensor with = attention_weights(q, k, {.bias = local_bias(centers, 3, 1)});
  const Tensor product = attention_weights(q, k) * exp(local_bias(centers, 3, 1));
  CHECK(largest_difference(with, product / sum(product, -1, true)) < 1e-12);
  CHECK_ERROR_HAS(local_bias(centers, 3, 0), "local_bias: sigma is 0; it must be positive");
}

TEST_CASE(
    "ShawScore and TransformerXLScore: loops over queries and keys, with cached keys before the query") {
  manual_seed(1);
  const int64_t Tq = 2, Tk = 5, past = 3;
  const Tensor q = randn({1, 2, Tq, 4}, float64), k = randn({1, 2, Tk, 4}, float64);
  const Tensor distances = arange(double(Tq + Tk - 1), float64) - double(Tq - 1 + past);
  ShawScore shaw(4, 2);
  TransformerXLScore xl(8, 2);
  CHECK(xl.r_net.weight.shape() == Shape{8, 8});
  xl.r_w_bias = randn({2, 4});
  xl.r_r_bias = randn({2, 4});
  for (OwnedTensor* x :
       {static_cast<OwnedTensor*>(&shaw.relative_keys), static_cast<OwnedTensor*>(&xl.r_w_bias),
        static_cast<OwnedTensor*>(&xl.r_r_bias), static_cast<OwnedTensor*>(&xl.r_net.weight)})
    x->to_(float64);
  const Tensor of_shaw = shaw(q, k, distances), of_xl = xl(q, k, distances);
  REQUIRE(of_shaw.shape() == Shape{1, 2, Tq, Tk});
  REQUIRE(of_xl.shape() == Shape{1, 2, Tq, Tk});
  for (int64_t h = 0; h < 2; ++h)
    for (int64_t i = 0; i < Tq; ++i)
      for (int64_t j = 0; j < Tk; ++j) {
        const int64_t distance = j - (past + i);
        const Tensor qi = q[{0, h, i}], kj = k[{0, h, j}];
        CHECK(
            of_shaw[{0, h, i, j}].item() ==
            doctest::Approx(dot(qi, shaw.relative_keys[std::clamp<int64_t>(distance, -2, 2) + 2]).item() / 2)
                .epsilon(1e-12));
        Values R(8);
        for (size_t n = 0; n < 4; ++n) {
          const double angle = double(-distance) / std::pow(10000, double(n) / 4);
          R[n] = std::sin(angle);
          R[n + 4] = std::cos(angle);
        }
        const Tensor r = narrow(matmul(xl.r_net.weight, from_vector(R, {8})), 0, 4 * h, 4);
        const double want = dot(xl.r_w_bias[h], kj).item() + dot(qi + xl.r_r_bias[h], r).item();
        CHECK(of_xl[{0, h, i, j}].item() == doctest::Approx(want / 2).epsilon(1e-12));
      }
  CHECK_ERROR(ShawScore(4, 0), "ShawScore: max_distance is 0; it must be positive");
}
