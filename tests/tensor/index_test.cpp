#include "tensor/index.h"

#include "tests/support/expect.h"

static Index made(Index index) { return index; }  // by the conversions that x[{...}] uses

// autograd/ops/index_test.cpp tests what the items select.
TEST_CASE("the items of an index") {
  CHECK(made(3).kind == Index::Kind::position);
  CHECK(made(3).position == 3);
  CHECK(made(-1).position == -1);
  CHECK(made(size_t{2}).position == 2);
  CHECK(made(ellipsis).kind == Index::Kind::ellipsis);
  CHECK(made(new_axis).kind == Index::Kind::new_axis);
  const Tensor positions = tensor({1, 2}, int64);
  CHECK(made(positions).kind == Index::Kind::tensor);
  CHECK(made(positions).tensor.same_as(positions));
  CHECK(made(3).line.line() == __LINE__);
  CHECK(made(Slice(1)).line.line() == __LINE__);
}

TEST_CASE("slices have defaults") {
  const auto is = [](const Index& index, std::optional<int64_t> start, std::optional<int64_t> end,
                     int64_t step) {
    return index.kind == Index::Kind::slice && index.range.start == start && index.range.end == end &&
           index.range.step == step;
  };
  CHECK(is(whole, {}, {}, 1));
  CHECK(is(Slice(2), 2, {}, 1));
  CHECK(is(Slice(1, -1), 1, -1, 1));
  CHECK(is(Slice({}, 4), {}, 4, 1));
  CHECK(is(Slice(0, 9, 3), 0, 9, 3));
  CHECK(is(Slice({}, {}, 2), {}, {}, 2));
}
