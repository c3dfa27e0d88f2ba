#include <doctest/doctest.h>

#include "heed.h"
#include "tests/support/expect.h"

using namespace heed;

TEST_CASE("writes in place change the tensor and every view of it") {
  NoGrad guard;
  const Tensor x = counted({2, 3});
  CHECK(add_(x, 1).same_as(x));
  CHECK(values(x) == std::vector<double>{1, 2, 3, 4, 5, 6});
  add_(x, tensor({1, 0, 0}), 10);
  sub_(transpose(x), tensor({{1}, {0}, {0}}), 2);
  CHECK(values(x) == std::vector<double>{9, 2, 3, 12, 5, 6});
  mul_(x[0], 2);
  div_(x[1], 2);
  CHECK(values(x) == std::vector<double>{18, 4, 6, 6, 2.5, 3});
  copy_(x[{whole, Slice(1, 3)}], tensor({7, 8}, int64));
  CHECK(values(x) == std::vector<double>{18, 7, 8, 6, 7, 8});
  zero_(select(x, 1, 0));
  fill_(x[{1, 1}], -1);
  copy_(x[{0, 2}], 5);
  CHECK(values(x) == std::vector<double>{0, 7, 5, 0, -1, 8});
  const Tensor counts = ones({2}, int64);
  CHECK(values(add_(counts, 3)) == std::vector<double>{4, 4});
}

TEST_CASE("operands that overlap are read before they are written, however long") {
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

TEST_CASE("each write raises the version and leaves its name and line") {
  NoGrad guard;
  const Tensor x = zeros({2});
  const Storage& storage = *x.body().storage;
  const int64_t before = storage.version;
  fill_(x, 1);
  add_(x, 1), sub_(x, 1), mul_(x, 1), div_(x, 1), zero_(x), copy_(x[0], 2);
  CHECK(storage.version == before + 7);
  CHECK(std::string(storage.writer) == "copy_");
  CHECK(std::string(storage.writer_line.file_name()).ends_with("in_place_test.cpp"));
  CHECK(storage.writer_line.line() == __LINE__ - 4);
}

TEST_CASE("what a rule has saved may not be overwritten before backward") {
  const Tensor x = ones({2}).requires_grad_(), other = tensor({1, 2});
  const Tensor y = x * other;
  {
    NoGrad guard;
    add_(other, 1);
  }
  const std::string text = message([&] { sum(y).backward(); });
  CHECK(text.find("mul: a tensor of shape [2], saved at") == 0);
  CHECK(text.find("was overwritten by add_ at") != std::string::npos);
}

TEST_CASE("what may not be written to is refused") {
  const Tensor x = zeros({2, 2});
  CHECK(
      message([&] { add_(x, 1); }) ==
      "add_: writes in place run only under NoGrad; put `NoGrad guard;` before it, or compute a new tensor");
  CHECK(message([&] { zero_(x); }).find("zero_: writes in place") == 0);
  NoGrad guard;
  CHECK(message([&] { fill_(expand(zeros({1}), {3}), 1); }) ==
        "fill_: x [3] is expanded, several of its elements are one in memory; write into a clone");
  CHECK(message([&] {
          add_(zeros({2, 1}), x);
        }) == "add_: x is [2, 1] and the other operand [2, 2], which does not broadcast to it");
  CHECK(message([&] { copy_(x, zeros({3})); }).find("do not broadcast") != std::string::npos);
  CHECK(message([&] { mul_(x, zeros({2}, float64)); }).find("operands must have one dtype") !=
        std::string::npos);
  CHECK(message([&] { add_(zeros({2}, int64), 0.5); }).find("does not fit a int64 tensor") !=
        std::string::npos);
  CHECK(message([&] { div_(zeros({2}, int64), 2); }).find("div_: x is int64") == 0);
  CHECK(message([&] { add_(2, x); }).find("the first operand is a number") != std::string::npos);
  CHECK(x.body().storage->writer == nullptr);  // refused writes are none
  CHECK(message([&] { fill_(Tensor(), 1); }).find("undefined") != std::string::npos);
  CHECK(values(x) == std::vector<double>(4, 0));
}
