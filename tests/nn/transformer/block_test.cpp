#include "nn/transformer/block.h"

#include <doctest/doctest.h>

#include "tests/support/expect.h"

using namespace heed;

TEST_CASE("residual: normed before the part or behind the sum; dropout of what the part adds") {
  manual_seed(1);
  LayerNorm norm(4);
  norm.weight = tensor({1, 2, 3, 4});
  const Tensor x = randn({2, 4});
  const auto twice = [](const Tensor& y) { return 2 * y; };
  CHECK(largest_difference(detail::residual(x, norm, {.norm_first = true}, false, twice), x + 2 * norm(x)) ==
        0);
  CHECK(largest_difference(detail::residual(x, norm, {}, false, twice), norm(x + 2 * x)) == 0);
  CHECK(largest_difference(detail::residual(x, norm, {.dropout = 1}, true, twice), norm(x)) == 0);
}

TEST_CASE("feed_forward: relu or gelu between two linear maps, dropout behind it") {
  const Linear in(3, 5), out(5, 3);
  const Tensor x = randn({2, 3});
  const auto run = [&](const TransformerOptions& options, bool training) {
    return detail::feed_forward(x, in, out, options, training);
  };
  CHECK(largest_difference(run({}, false), out(relu(in(x)))) == 0);
  CHECK(largest_difference(run({.activation = Activation::gelu}, false), out(gelu(in(x)))) == 0);
  CHECK(largest_difference(run({.dropout = 1}, true), expand(out.bias, {2, 3})) == 0);
}
