#include "tensor/kernels/map.h"

#include "tests/support/expect.h"

TEST_CASE("map, zip, test and compare instantiate a formula for the dtype") {
  const Tensor a = tensor({1, 2, 3}, int64), b = tensor({{10}, {20}}, int64);
  const auto sum = [](auto u, auto v) { return u + v; };
  CHECK(kernel::map(
            a, [](auto v) { return v * v; }, kernel::numbers)
            .to_vector<int64_t>() == std::vector<int64_t>{1, 4, 9});
  CHECK(kernel::zip(a, b, sum, kernel::wrapping).to_vector<int64_t>() ==
        std::vector<int64_t>{11, 12, 13, 21, 22, 23});
  CHECK(kernel::test(a, [](auto v) { return static_cast<double>(v) > 1; }).to_vector() == Values{0, 1, 1});
  CHECK(kernel::compare(a, b, [](auto u, auto v) {
          return static_cast<double>(u) * 10 == static_cast<double>(v);
        }).to_vector() == Values{1, 0, 0, 0, 1, 0});
  CHECK(contains(message([&] { kernel::map(a, [](auto v) { return v; }); }), "int64"));

  const Tensor x = full({2}, INT64_MAX, int64);
  kernel::update(x, a[Slice(0, 2)], sum);
  CHECK(x.to_vector<int64_t>() == std::vector<int64_t>{INT64_MIN, INT64_MIN + 1});
}

TEST_CASE("Factor: a number that the dtype can represent") {
  CHECK(kernel::Factor(0.5, float32).as<float>() == 0.5F);
  CHECK(kernel::Factor(int64_t{1} << 60, int64).as<int64_t>() == int64_t{1} << 60);
  CHECK_ERROR_HAS(kernel::Factor(0.5, int64), "0.5");
}
