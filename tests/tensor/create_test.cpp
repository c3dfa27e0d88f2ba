#include "tensor/create.h"

#include <climits>

#include "tests/support/compile.h"
#include "tests/support/expect.h"

constexpr DType dtypes[] = {float32, float64, int64, boolean};

TEST_CASE("zeros, ones, full, zeros_like and ones_like") {
  for (const DType dtype : dtypes)
    for (const Shape& shape :
         {Shape{}, Shape{3}, Shape{2, 3}, Shape{0}, Shape{2, 0}, Shape{1, 1, 1, 1, 1, 1, 2}}) {
      const auto is = [&](const Tensor& x, double value) {
        return x.shape() == shape && x.dtype() == dtype && x.is_contiguous() && !x.requires_grad() &&
               values(x) == Values(static_cast<size_t>(numel(shape)), value);
      };
      CHECK(is(zeros(shape, dtype), 0));
      CHECK(is(ones(shape, dtype), 1));
      CHECK(is(zeros_like(ones(shape, dtype)), 0));
      CHECK(is(ones_like(zeros(shape, dtype)), 1));
      if (dtype != boolean) CHECK(is(full(shape, -7, dtype), -7));
    }
  CHECK(zeros({2}).dtype() == float32);
  CHECK(full({}, 0.1).item<float>() == 0.1f);
  CHECK(full({}, 0.1, float64).item() == 0.1);
  CHECK_ERROR(zeros({2, -1}), "zeros: shape [2, -1]: a size is negative");
}

TEST_CASE("a value that the dtype cannot represent throws") {
  const std::string fraction = "the number 2.7 does not fit a int64 tensor";
  CHECK_ERROR_HAS(full({}, 2.7, int64), fraction);
  CHECK_ERROR_HAS(tensor({1, 2.7}, int64), fraction);
  CHECK_ERROR_HAS(arange(2.7, 5, 1, int64), fraction);
  CHECK_ERROR_HAS(arange(0, 5.4, 2.7, int64), fraction);
  CHECK_ERROR_HAS(linspace(0, 2.7, 2, int64), fraction);
  CHECK_ERROR_HAS(from_vector<double>({2.7}, {1}, int64), fraction);
  const std::string two = "the number 2 does not fit a bool tensor";
  CHECK_ERROR_HAS(full({2}, 2, boolean), two);
  CHECK_ERROR_HAS(tensor({0, 2}, boolean), two);
  CHECK_ERROR_HAS(arange(3, boolean), two);
  CHECK_ERROR_HAS(from_vector<int>({2}, {1}, boolean), two);
  CHECK_THROWS_AS(full({}, NAN, int64), Error);
  CHECK_THROWS_AS(full({}, 0x1p63, int64), Error);
}

TEST_CASE("an error names the function and where it was called") {
  const auto line = std::source_location::current();  // compilers disagree about lines inside macros
  const std::string fraction = whole_message([] { full({}, 2.7, int64); });
  const std::string negative = whole_message([] { randperm(-1); });
  const auto at_line = [&](uint32_t after) {
    return "; called at " + std::string(line.file_name()) + ":" + std::to_string(line.line() + after);
  };
  CHECK(fraction ==
        "full: the number 2.7 does not fit a int64 tensor; convert the tensor with to(x, float32)" +
            at_line(1));
  CHECK(negative == "randperm: n is -1; it must not be negative" + at_line(2));
}

TEST_CASE("integers that a double rounds stay exact") {
  const int64_t big = (int64_t{1} << 53) + 1;
  CHECK(full({2}, big, int64).to_vector<int64_t>() == std::vector<int64_t>{big, big});
  CHECK(tensor({big, -big}, int64).to_vector<int64_t>() == std::vector<int64_t>{big, -big});
  CHECK(arange(big, big + 3, 1, int64).to_vector<int64_t>() == std::vector<int64_t>{big, big + 1, big + 2});
  CHECK(arange(INT64_MIN, INT64_MAX, INT64_MAX, int64).to_vector<int64_t>() ==
        std::vector<int64_t>{INT64_MIN, -1, INT64_MAX - 1});
}

TEST_CASE("arange counts from start to below end") {
  CHECK(values(arange(0, 4)) == Values{0, 1, 2, 3});
  CHECK(values(arange(1, 2, 0.25, float64)) == Values{1, 1.25, 1.5, 1.75});
  CHECK(values(arange(5, 0, -2, int64)) == Values{5, 3, 1});
  CHECK(values(arange(0, 0.5)) == Values{0});
  CHECK(values(arange(3)) == Values{0, 1, 2});
  CHECK(arange(3, int64).dtype() == int64);
  CHECK(arange(3, 3).shape() == Shape{0});
  CHECK(arange(0, 3, 1, int64).dtype() == int64);
  CHECK(values(arange(0, 1, 0.1, float64))[9] == 0.9);  // multiples, not sums of steps
  for (const auto& f : {+[] { arange(0, 5, 0); }, +[] { arange(0, 5, -1); }, +[] { arange(5, 0); },
                        +[] { arange(0, NAN); }, +[] { arange(0, INFINITY); }, +[] { arange(0, 1, 1e-300); }})
    CHECK(contains(message(f), "the step must lead from start to end"));
}

TEST_CASE("linspace includes both ends") {
  CHECK(values(linspace(0, 1, 5)) == Values{0, 0.25, 0.5, 0.75, 1});
  CHECK(values(linspace(3, -3, 3, float64)) == Values{3, 0, -3});
  CHECK(values(linspace(2, 5, 1)) == Values{2});
  CHECK(linspace(2, 5, 0).shape() == Shape{0});
  const Values tenths = values(linspace(0.1, 0.7, 13, float64));
  CHECK(tenths.front() == 0.1);
  CHECK(tenths.back() == 0.7);
  CHECK_ERROR(linspace(0, 1, -1), "linspace: a count of -1 values; it must not be negative");
}

TEST_CASE("eye is one on the diagonal") {
  CHECK(values(eye(2)) == Values{1, 0, 0, 1});
  CHECK(values(eye(2, 3, int64)) == Values{1, 0, 0, 0, 1, 0});
  CHECK(values(eye(3, 1, boolean)) == Values{1, 0, 0});
  CHECK(eye(0).shape() == Shape{0, 0});
  CHECK(eye(2, 0).shape() == Shape{2, 0});
  CHECK_ERROR_HAS(eye(-1), "a size is negative");
}

TEST_CASE("tensors from nested values") {
  CHECK(tensor(2.5).shape() == Shape{});
  CHECK(tensor(2.5).item() == 2.5);
  CHECK(tensor({1, 2.5, 3}).shape() == Shape{3});
  const Tensor x = tensor({{{1, 2}}, {{3, 4}}, {{5, 6}}}, int64);
  CHECK(x.shape() == Shape{3, 1, 2});
  CHECK(x.dtype() == int64);
  CHECK(values(x) == Values{1, 2, 3, 4, 5, 6});
  CHECK(values(tensor({true, false}, boolean)) == Values{1, 0});
  CHECK(tensor({}).shape() == Shape{0});
  CHECK(tensor({{}, {}}).shape() == Shape{2, 0});

  const auto ragged = [](const NestedList& values) { return message([&] { tensor(values); }); };
  CHECK(contains(ragged({{1}, {2, 3}}), "ragged"));
  CHECK(contains(ragged({1, {2}}), "ragged"));
  CHECK(contains(ragged({{1}, 2}), "ragged"));
  CHECK(contains(ragged({{}, {1}}), "ragged"));
}

TEST_CASE("tensors from vectors") {
  CHECK(from_vector(std::vector<float>{1, 2}, {2}).dtype() == float32);
  CHECK(from_vector(Values{1, 2}, {1, 2}).dtype() == float64);
  const int64_t large = int64_t{1} << 60;
  CHECK(from_vector(std::vector<int64_t>{1, large}, {2}).to_vector<int64_t>()[1] == large);
  CHECK(from_vector(std::vector<bool>{true, false, true}, {3}).dtype() == boolean);
  const Tensor x = from_vector(std::vector<int>{1, 2, 3, 4, 5, 6}, {2, 3}, float64);
  CHECK(x.shape() == Shape{2, 3});
  CHECK(values(x) == Values{1, 2, 3, 4, 5, 6});
  CHECK(from_vector(std::vector<float>{}, {0, 2}).numel() == 0);
}

template <class T>
static bool becomes_int64(T largest) {
  const Tensor x = from_vector(std::vector<T>{0, 1, largest}, {3});
  return x.dtype() == int64 &&
         x.to_vector<int64_t>() == std::vector<int64_t>{0, 1, static_cast<int64_t>(largest)};
}

TEST_CASE("vectors of other integers become int64") {
  CHECK(becomes_int64<int>(INT_MAX));
  CHECK(becomes_int64<short>(SHRT_MAX));
  CHECK(becomes_int64<unsigned char>(UCHAR_MAX));
  CHECK(becomes_int64<uint32_t>(UINT32_MAX));
  CHECK(becomes_int64<long long>(INT64_MAX));
  CHECK(becomes_int64<uint64_t>(INT64_MAX));
  CHECK(from_vector(std::vector<int8_t>{-1}, {1}, float32).item<float>() == -1);
  CHECK(from_vector(std::vector<uint64_t>{uint64_t{1} << 63}, {1}, float64).item() == 0x1p63);
  CHECK_ERROR_HAS(from_vector(std::vector<uint64_t>{uint64_t{1} << 63}, {1}), "does not fit a int64 tensor");
}

TEST_CASE("vectors of other types give a compile error of one line") {
  const Texts errors = compile_errors(R"(
#include "tensor/create.h"
heed::Tensor f() { return heed::from_vector(std::vector<long double>{1}, {1}); }
heed::Tensor g() { return heed::from_vector(std::vector<std::string>{"1"}, {1}); }
)");
  REQUIRE(errors.size() == 2);
  for (const std::string& error : errors)
    CHECK(contains(error, "from_vector takes float, double, bool and integers; convert the values"));
}
