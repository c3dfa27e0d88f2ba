#include "autograd/ops/rounding.h"

#include "tests/support/expect.h"

static void check_values(const Tensor& x, const Values& want) {
  CHECK(largest_difference(values(x), want) < 1e-12);
}

TEST_CASE("floor, ceil and round: halves, signs, infinities, integers") {
  const Tensor x = tensor({0.5, 1.5, 2.5, -0.5, -1.5, kInf, kNaN, -0.2}, float64);
  check_values(round(x), {0, 2, 2, 0, -2, kInf, kNaN, 0});
  check_values(ceil(x), {1, 2, 3, 0, -1, kInf, kNaN, 0});
  check_values(floor(x), {0, 1, 2, -1, -2, kInf, kNaN, -1});
  const Tensor money = tensor({1234.5678, -0.125, 25}, float64);
  check_values(round(money, 2), {1234.57, -0.12, 25});
  check_values(round(money, -1), {1230, 0, 20});
  const Tensor whole_numbers = tensor({15, -7}, int64);
  for (const Tensor& y : {round(whole_numbers), ceil(whole_numbers), floor(whole_numbers)}) {
    CHECK(y.dtype() == int64);
    check_values(y, {15, -7});
  }
  CHECK_ERROR_HAS(round(tensor({1}, boolean)), "round: expected numbers, got a bool tensor");
}

TEST_CASE("fmod has the sign of the dividend") {
  check_values(fmod(tensor({5.5, -5.5, 5.5, -5.5, 1, kInf, 1}), tensor({2, 2, -2, -2, 0, 2, kInf})),
               {1.5, -1.5, 1.5, -1.5, kNaN, kNaN, 1});
  check_values(fmod(tensor({7, -7, 7, -7}, int64), tensor({3, 3, -3, -3}, int64)), {1, -1, 1, -1});
  check_values(fmod(from_vector<int64_t>({INT64_MIN}, {1}), -1), {0});
  CHECK_ERROR(fmod(tensor({1, 2}, int64), tensor({2, 0}, int64)),
              "fmod: b is int64 [2] and has a 0, by which integers have no remainder");
  const Tensor a = leaf({5.5, -5.5, 5.5}), b = leaf({2, 2, -2});
  sum(fmod(a, b) * tensor({1, 2, 3}, float64)).backward();
  check_values(a.grad(), {1, 2, 3});
  check_values(b.grad(), {-2, 4, 6});
}

TEST_CASE("isinf and allclose") {
  CHECK(values(isinf(tensor({kInf, -kInf, kNaN, 1e38}))) == Values{1, 1, 0, 0});
  CHECK(values(isinf(tensor({1}, int64))) == Values{0});
  const auto numbers = [](const NestedList& list) { return tensor(list, float64); };
  CHECK(allclose(numbers({1, kInf}), numbers({1 + 1e-6, kInf})));
  CHECK_FALSE(allclose(numbers({kInf}), numbers({-kInf})));
  CHECK_FALSE(allclose(numbers({1}), numbers({kInf})));
  CHECK_FALSE(allclose(numbers({kNaN}), numbers({kNaN})));
  CHECK(allclose(numbers({kNaN}), numbers({kNaN}), 1e-5, 1e-8, true));
  CHECK(allclose(zeros({0}), zeros({0})));
  CHECK_FALSE(allclose(tensor({10000}, int64), 10001));
  CHECK(allclose(tensor({100000}, int64), 100001));
  CHECK(allclose(ones({2, 1}), 1));
  CHECK(allclose(ones({2}), 2, 0, 1));
  CHECK_ERROR(allclose(ones({2}), 1, -1),
              "allclose: rtol is -1 and atol is 1e-08; they must not be negative");
  CHECK_ERROR_HAS(allclose(ones({2}), ones({3})), "allclose: a is [2], b is [3]");
  CHECK_ERROR_HAS(allclose(ones({2}), ones({2}, float64)), "operands must have one dtype");
}
