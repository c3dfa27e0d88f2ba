#include "tests/support/expect.h"

// The table of operators checks values, and random programs check views.
TEST_CASE("in-place operations convert to the tensor's dtype and return the tensor") {
  NoGrad guard;
  const Tensor x = counted({2, 3});
  CHECK(copy_(x, tensor({7, 8, 9}, int64)).same_as(x));
  CHECK(values(x) == Values{7, 8, 9, 7, 8, 9});
}

TEST_CASE("overlapping operands of any size are read before they are written") {
  NoGrad guard;
  for (const int64_t n : {2, 5, 60, 3000}) {  // the loop reads into a buffer of some hundred elements
    CAPTURE(n);
    const Tensor x = counted({n}), y = counted({n});
    const Tensor shifted = cat({x[{Slice(0, 1)}], slice(x, 0, 0, n - 1)});
    copy_(slice(x, 0, 1, n), slice(x, 0, 0, n - 1));
    CHECK(values(x) == values(shifted));
    const Tensor sums = slice(y, 0, 1, n) + slice(y, 0, 0, n - 1);
    add_(slice(y, 0, 1, n), slice(y, 0, 0, n - 1));
    CHECK(values(slice(y, 0, 1, n)) == values(sums));

    const Tensor rows = counted({5, n}), products = rows * clone(rows[1]);
    mul_(rows, rows[1]);  // broadcasts a row of its own
    CHECK(values(rows) == values(products));
    add_(rows, rows);
    CHECK(values(rows) == values(products * 2));
  }
  for (const int64_t n : {2, 10, 40})  // the same memory in another order
    for (const Shape& order : {Shape{2, 0, 1}, Shape{1, 0, 2}, Shape{0, 2, 1}}) {
      const Tensor cube = counted({n, n, n}), sum = cube + permute(cube, order);
      add_(cube, permute(cube, order));
      CHECK(values(cube) == values(sum));
    }
}

TEST_CASE("in-place operations: invalid targets throw") {
  const Tensor x = zeros({2, 2});
  CHECK_ERROR_HAS(zero_(x), "zero_: writes in place");
  NoGrad guard;
  CHECK_ERROR(fill_(expand(zeros({1}), {3}), 1),
              "fill_: x [3] is expanded, several of its elements are one in memory; write into a clone");
  CHECK_ERROR(add_(zeros({2, 1}), x),
              "add_: x is [2, 1] and the other operand [2, 2], which does not broadcast to it");
  CHECK_ERROR_HAS(copy_(x, zeros({3})), "do not broadcast");
  CHECK_ERROR_HAS(mul_(x, zeros({2}, float64)), "operands must have one dtype");
  CHECK_ERROR_HAS(add_(zeros({2}, int64), 0.5), "does not fit a int64 tensor");
  CHECK_ERROR_HAS(div_(zeros({2}, int64), 2), "div_: x is int64");
  CHECK_ERROR_HAS(add_(2, x), "the first operand is a number");
  CHECK(TensorImpl::of(x).storage->writer == nullptr);  // writes that throw are not recorded
  CHECK_ERROR_HAS(fill_(Tensor(), 1), "undefined");
  CHECK(values(x) == Values(4, 0));
}

TEST_CASE("in-place operators write under NoGrad, also into leaves, and throw otherwise") {
  const Tensor x = tensor({1, 2}).requires_grad_(), same = x;
  Tensor y = tensor({4, 6});
  CHECK_ERROR(x += 1,
              "add_: writes in place run only under NoGrad; put `NoGrad guard;` before it, or compute "
              "a new tensor");
  CHECK_ERROR_HAS(y *= 2, "mul_: writes in place");  // also what needs no gradient
  NoGrad guard;
  x += 1;
  CHECK(values(same) == Values{2, 3});
  x -= y;
  x *= tensor({-1, 2});
  x /= 2;
  CHECK(values(same) == Values{1, -3});
  CHECK(x.is_leaf());
  CHECK(x.requires_grad());
  y[0] += 1;  // through a view
  CHECK(values(y) == Values{5, 6});
  CHECK((y += 1).same_as(y));
  const std::string line = place(__LINE__ + 1);
  CHECK(contains(whole_message([&] { y += zeros({3}); }), "called at " + line));
  CHECK_ERROR_HAS(x += tensor({1, 2}, float64), "operands must have one dtype");
}
