#include "nn/layers/norm.h"

#include "nn/debug/check_module.h"

#include "tests/support/expect.h"

TEST_CASE("LayerNorm: over the last dimensions, names") {
  const LayerNorm layer({2, 2}, {.eps = 0});
  CHECK(values(layer(tensor({{{1, 2}, {3, 4}}})))[3] == doctest::Approx(1.5 / std::sqrt(1.25)));
  CHECK(test::names(layer.named_parameters()) == Texts{"weight", "bias"});
  CHECK(layer.weight.shape() == Shape{2, 2});
  CHECK(LayerNorm(4).eps == 1e-5);
  CHECK(LayerNorm(4, {.bias = false}).parameters().size() == 1);
  CHECK(LayerNorm(4, {.elementwise_affine = false}).parameters().empty());
  CHECK_THROWS_AS(LayerNorm(4)(ones({2, 3})), Error);
}

TEST_CASE("RMSNorm: root mean square 1 over the last dimension") {
  const RMSNorm layer(2);
  const Tensor x = tensor({{3, 4}});
  CHECK(values(layer(x))[0] == doctest::Approx(3 / std::sqrt(12.5)));
  CHECK(layer.named_parameters().size() == 1);
  CHECK(RMSNorm(2, {.eps = 12.5})(x).to_vector<double>()[1] == doctest::Approx(4 / 5.0));
  CHECK(RMSNorm(2, {.elementwise_affine = false}).parameters().empty());
}

TEST_CASE("norms of zero features") {
  const Tensor x = zeros({2, 0}).requires_grad_();
  CHECK(LayerNorm(0)(x).shape() == Shape{2, 0});
  CHECK(RMSNorm(0)(x).shape() == Shape{2, 0});
  sum(LayerNorm(0)(x)).backward();
  CHECK(x.grad().shape() == Shape{2, 0});
}

TEST_CASE("GroupNorm: over groups of channels, names") {
  const GroupNorm layer(2, 4, {.eps = 0});
  const Tensor x = tensor({{{1}, {3}, {10}, {30}}});
  CHECK(values(layer(x)) == Values{-1, 1, -1, 1});
  CHECK(test::names(layer.named_parameters()) == Texts{"weight", "bias"});
  CHECK(GroupNorm(2, 4, {.affine = false}).parameters().empty());
  CHECK_THROWS_WITH_AS(GroupNorm(3, 4),
                       "GroupNorm: num_groups is 3, num_channels is 4; num_groups must divide it", Error);
  CHECK_THROWS_AS(layer(zeros({2, 3, 5})), Error);
  const ModuleReport report = check_module([] { return GroupNorm(2, 4); }, {randn({2, 4, 3})});
  CHECK_MESSAGE(report.ok(), to_string(report));
}
