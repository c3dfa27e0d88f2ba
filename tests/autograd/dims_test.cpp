#include "autograd/dims.h"

#include "autograd/ops/moments.h"
#include "autograd/ops/scan.h"
#include "tests/support/expect.h"

template <class X>
concept TakesBoolForDim =
    requires(X x) { sum(x, true); } || requires(X x) { amax(x, true); } || requires(X x) { max(x, true); } ||
    requires(X x) { prod(x, true); } || requires(X x) { argmax(x, true); } ||
    requires(X x) { softmax(x, true); } || requires(X x) { cumsum(x, true); } ||
    requires(X x) { var(x, 0, true); } || requires(X x) { heed::stddev(x, 0, true); };
static_assert(!TakesBoolForDim<Tensor>, "a bool is no dimension and no correction");

TEST_CASE("dims: one, several or all; an IntList may be longer than a shape") {
  const Tensor x = ones({2, 3, 4});
  CHECK(sum(x, -1).shape() == Shape{2, 3});
  CHECK(sum(x, {0, 2}).shape() == Shape{3});
  CHECK(sum(x, Shape{1}).shape() == Shape{2, 4});
  CHECK(sum(x, {}).shape() == Shape{});
  CHECK(to_string(IntList{1, 2, 3, 4, 5, 6, 7, 8, 9, -10}) == "[1, 2, 3, 4, 5, 6, 7, 8, 9, -10]");
  CHECK(split(ones({10}), IntList(10, 1)).size() == 10);
}
