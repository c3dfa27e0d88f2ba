#include "tensor/kernels/index.h"

#include "tests/support/references.h"

TEST_CASE("index_select and its gradient are gather and scatter_add, row by row") {
  Generator generator(1);
  const Tensor x = randn({5, 300, 40}, float64, &generator), index = randint(0, 300, {700}, &generator);
  const auto select = [&](auto& in) { return index_select(in[0], 1, index); };
  for (const Tensor& in : {x, transpose(x, 0, 2), narrow(x, 2, 0, 3)})
    CHECK(from_reference(select, {in}) == 0);
}

TEST_CASE("sums of int64 by position wrap around") {
  const Tensor out = from_vector(std::vector<int64_t>{INT64_MAX, 5}, {2});
  const Tensor index = tensor({0, 1, 0, 0}, int64), src = tensor({2, 1, 3, 1}, int64);
  CHECK(scatter_add(out, 0, index, src).to_vector<int64_t>() == std::vector<int64_t>{INT64_MIN + 5, 6});
  kernel::index_add_into(out, 0, index, src);
  CHECK(out.to_vector<int64_t>() == std::vector<int64_t>{INT64_MIN + 5, 6});
}

TEST_CASE("positions_of_true reads strided masks in row-major order") {
  const Tensor mask = tensor({{true, false}, {true, true}}, boolean);
  CHECK(kernel::positions_of_true(transpose(mask)).to_vector<int64_t>() == std::vector<int64_t>{0, 1, 3});
  CHECK(kernel::positions_of_true(zeros({0}, boolean)).shape() == Shape{0});
}

TEST_CASE("order: a partial sort equals the beginning of the full sort") {
  Generator generator(2);
  const Tensor x = randint(0, 50, {3, 2000}, &generator);
  const Tensor all = kernel::order(x, 1, 2000, true);
  CHECK(values(narrow(all, 1, 0, 7)) == values(kernel::order(x, 1, 7, true)));
  const Values sorted = values(gather(x, 1, all)[0]), places = values(all[0]);
  CHECK(std::is_sorted(sorted.rbegin(), sorted.rend()));
  for (size_t i = 1; i < places.size(); ++i)
    if (sorted[i] == sorted[i - 1]) CHECK(places[i] > places[i - 1]);
}
