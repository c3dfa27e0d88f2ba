#include "tensor/kernels/index.h"

#include <doctest/doctest.h>

#include "heed.h"
#include "tests/support/expect.h"

using namespace heed;

TEST_CASE("index kernels agree with one another") {
  Generator generator(1);
  const Tensor x = randn({5, 300, 40}, float64, &generator);
  const Tensor index = randint(0, 300, {700}, &generator);
  const Tensor wide = expand(reshape(index, {700, 1}), {5, 700, 40});
  const Tensor rows = kernel::index_select("test", x, 1, index);
  CHECK(values(rows) == values(kernel::gather("test", x, 1, wide)));
  const Tensor crossed = transpose(x, 0, 2);
  CHECK(values(kernel::index_select("test", crossed, 1, index)) == values(transpose(rows, 0, 2)));

  const Tensor a = zeros({5, 300, 40}, float64), b = zeros({5, 300, 40}, float64);
  kernel::index_add_into("test", a, 1, index, rows);
  kernel::scatter_add_into("test", b, 1, wide, rows);
  CHECK(values(a) == values(b));
  const Tensor c = zeros({300, 3}, float64);
  const Tensor ones_ = ones({700, 3}, float64);
  kernel::index_add_into("test", c, 0, index, ones_);
  CHECK(values(sum(c, 0)) == std::vector<double>(3, 700));
}

TEST_CASE("positions_of_true reads strided masks in row-major order") {
  const Tensor mask = tensor({{true, false}, {true, true}}, boolean);
  CHECK(kernel::positions_of_true(transpose(mask)).to_vector<int64_t>() == std::vector<int64_t>{0, 1, 3});
  CHECK(kernel::positions_of_true(zeros({0}, boolean)).shape() == Shape{0});
}

TEST_CASE("order sorts long lines, and finds the first of them alike") {
  Generator generator(2);
  const Tensor x = randint(0, 50, {3, 2000}, &generator);
  const Tensor all = kernel::order(x, 1, 2000, true);
  const Tensor first = kernel::order(x, 1, 7, true);
  CHECK(values(narrow(all, 1, 0, 7)) == values(first));
  const std::vector<double> sorted = values(gather(x, 1, all)[0]);
  CHECK(std::is_sorted(sorted.rbegin(), sorted.rend()));
  const std::vector<double> places = values(all[0]);
  for (size_t i = 1; i < places.size(); ++i)
    if (sorted[i] == sorted[i - 1]) CHECK(places[i] > places[i - 1]);
}
