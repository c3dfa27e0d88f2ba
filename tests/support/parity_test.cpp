#include "tests/support/parity.h"

#include <doctest/doctest.h>

#include <limits>

#include "tensor/create.h"
#include "tests/support/expect.h"

using namespace heed;
using parity::difference;

namespace {

template <class T>
Tensor values(std::initializer_list<T> list) {
  Tensor x = Tensor::empty({static_cast<int64_t>(list.size())}, dtype_of<T>);
  std::copy(list.begin(), list.end(), x.mutable_data<T>());
  return x;
}

}  // namespace

TEST_CASE("parity: a tolerance is absolute plus relative, and no more") {
  const Tensor want = values<double>({100, -2});
  CHECK(difference(values<double>({100.9, -2}), want, {.relative = 0.01}) == "");
  CHECK(difference(values<double>({101.1, -2}), want, {.relative = 0.01}) ==
        "1 of 2 differ, most at [0]: is 101.1 and must be 100");
  CHECK(difference(values<double>({100, -2.25}), want, {.absolute = 0.25}) == "");
  CHECK(difference(values<double>({100, -2.5}), want, {.absolute = 0.25}) != "");
}

TEST_CASE("parity: NaN equals NaN, an infinity only itself") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const parity::Tolerance loose{.relative = 1, .absolute = 1e300};
  CHECK(difference(values<double>({nan, inf, -inf}), values<double>({nan, inf, -inf}), {}) == "");
  CHECK(difference(values<double>({1}), values<double>({nan}), loose) != "");
  CHECK(difference(values<double>({nan}), values<double>({1}), loose) != "");
  CHECK(difference(values<double>({inf}), values<double>({-inf}), loose) != "");
  CHECK(difference(values<double>({inf}), values<double>({1}), {.absolute = 1}) != "");
  CHECK(difference(values<double>({1e308}), values<double>({inf}), loose) != "");
}

TEST_CASE("largest_difference: NaN and infinities are far from all but themselves") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(largest_difference({1, 5, -3}, {1, 4.5, -1}) == 2);
  CHECK(largest_difference({nan, inf, 1}, {nan, inf, 1}) == 0);
  CHECK(largest_difference({nan, 1}, {2, 1}) == inf);
  CHECK(largest_difference({1, 2}, {nan, 5}) == inf);
  CHECK(largest_difference({inf}, {-inf}) == inf);
  CHECK(largest_difference({1, 2}, {1}) == inf);
  CHECK(largest_difference(zeros({2}), zeros({2, 1})) == inf);
}

TEST_CASE("parity: dtype, shape and integers are exact") {
  CHECK(difference(values<float>({1}), values<double>({1}), {}) == "dtype is float32 and must be float64");
  CHECK(difference(values<double>({1}), Tensor::empty({}, float64), {}) == "shape is [1] and must be []");
  CHECK(difference(values<int64_t>({(int64_t{1} << 60) + 1}), values<int64_t>({int64_t{1} << 60}),
                   {.absolute = 10}) != "");
  CHECK(difference(values<bool>({true, false}), values<bool>({true, true}), {.absolute = 10}) != "");
  CHECK(difference(Tensor(), values<bool>({true}), {}) == "is undefined");
}

TEST_CASE("parity: every case finds the tensors it names") {
  for (const char* file : {"ops.json", "nn.json"}) {
    const parity::Cases cases(file);
    int64_t count = 0;
    for (const parity::Json& one : cases) {
      ++count;
      for (const parity::Json& output : one.value("outputs", parity::Json::array()))
        if (output.contains("shape"))
          CHECK(cases.tensor(output.at("tensor")).shape() ==
                Shape(output.at("shape").get<std::vector<int64_t>>()));
    }
    CHECK(count > 0);
  }
}
