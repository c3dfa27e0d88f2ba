#include "tests/support/parity.h"

#include "tests/support/expect.h"

using parity::difference;

template <class T>
static Tensor values(std::initializer_list<T> list) {
  return from_vector(std::vector<T>(list), {static_cast<int64_t>(list.size())});
}

TEST_CASE("parity: the tolerance is absolute plus relative") {
  const Tensor want = values<double>({100, -2});
  CHECK(difference(values<double>({100.9, -2}), want, {.relative = 0.01}) == "");
  CHECK(difference(values<double>({101.1, -2}), want, {.relative = 0.01}) ==
        "1 of 2 differ, most at [0]: is 101.1 and must be 100");
  CHECK(difference(values<double>({100, -2.25}), want, {.absolute = 0.25}) == "");
  CHECK(difference(values<double>({100, -2.5}), want, {.absolute = 0.25}) != "");
}

TEST_CASE("parity: NaN equals NaN, an infinity equals only itself") {
  const parity::Tolerance loose{.relative = 1, .absolute = 1e300};
  CHECK(difference(values<double>({kNaN, kInf, -kInf}), values<double>({kNaN, kInf, -kInf}), {}) == "");
  CHECK(difference(values<double>({1}), values<double>({kNaN}), loose) != "");
  CHECK(difference(values<double>({kNaN}), values<double>({1}), loose) != "");
  CHECK(difference(values<double>({kInf}), values<double>({-kInf}), loose) != "");
  CHECK(difference(values<double>({kInf}), values<double>({1}), {.absolute = 1}) != "");
  CHECK(difference(values<double>({1e308}), values<double>({kInf}), loose) != "");
}

TEST_CASE("largest_difference: NaN and infinities equal only themselves") {
  CHECK(largest_difference({1, 5, -3}, {1, 4.5, -1}) == 2);
  CHECK(largest_difference({kNaN, kInf, 1}, {kNaN, kInf, 1}) == 0);
  CHECK(largest_difference({kNaN, 1}, {2, 1}) == kInf);
  CHECK(largest_difference({1, 2}, {kNaN, 5}) == kInf);
  CHECK(largest_difference({kInf}, {-kInf}) == kInf);
  CHECK(largest_difference({1, 2}, {1}) == kInf);
  CHECK(largest_difference(zeros({2}), zeros({2, 1})) == kInf);
}

TEST_CASE("parity: dtype, shape and integers are exact") {
  CHECK(difference(values<float>({1}), values<double>({1}), {}) == "dtype is float32 and must be float64");
  CHECK(difference(values<double>({1}), Tensor::empty({}, float64), {}) == "shape is [1] and must be []");
  CHECK(difference(values<int64_t>({(int64_t{1} << 60) + 1}), values<int64_t>({int64_t{1} << 60}),
                   {.absolute = 10}) != "");
  CHECK(difference(values<bool>({true, false}), values<bool>({true, true}), {.absolute = 10}) != "");
  CHECK(difference(Tensor(), values<bool>({true}), {}) == "is undefined");
}
