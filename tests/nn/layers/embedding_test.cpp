#include "nn/layers/embedding.h"

#include <doctest/doctest.h>

#include "tensor/index.h"
#include "tests/support/leaves.h"

using namespace heed;

TEST_CASE("Embedding: rows by index, names, leaves, start") {
  manual_seed(2);
  const Embedding layer(50, 40);
  const Tensor index = tensor({{0, 49}, {3, 3}}, int64);
  const Tensor y = layer(index);
  CHECK(y.shape() == Shape{2, 2, 40});
  CHECK(y[{0, 1}].to_vector<float>() == layer.weight[49].to_vector<float>());
  REQUIRE(layer.named_parameters().size() == 1);
  CHECK(layer.named_parameters()[0].name == "weight");
  CHECK(test::forgotten_leaves(y, layer) == "");
  CHECK(heed::std(layer.weight).item() == doctest::Approx(1).epsilon(0.05));
}

TEST_CASE("Embedding: the padding row starts at zero and never learns") {
  for (const int64_t padding : {2, -1}) {
    const Embedding layer(3, 2, {.padding_idx = padding});
    CHECK(layer.padding_idx == 2);
    CHECK(layer.weight[2].to_vector<float>() == std::vector<float>{0, 0});
    CHECK(layer.weight.requires_grad());
    layer(tensor({2, 0, 0}, int64)).backward(ones({3, 2}));
    CHECK(layer.weight.grad().to_vector<float>() == std::vector<float>{2, 2, 0, 0, 0, 0});
  }
  CHECK_THROWS_WITH_AS(Embedding(3, 2, {.padding_idx = 3}), "Embedding: padding_idx 3 is not in [-3, 3)",
                       Error);
}

TEST_CASE("Embedding: what is no index") {
  const Embedding layer(3, 2);
  CHECK_THROWS_AS(layer(tensor({3}, int64)), Error);
  CHECK_THROWS_AS(layer(tensor({0.5})), Error);
}
