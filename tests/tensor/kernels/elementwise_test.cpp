#include "tensor/kernels/elementwise.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "heed.h"
#include "tensor/kernels/loop.h"
#include "tests/support/expect.h"

using namespace heed;

namespace {

using Values = std::vector<double>;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Random tensors in memory of every kind, and (in one dtype, to be quick) of sizes about a block.
std::vector<Tensor> operands(DType dtype, double low, double high) {
  Generator generator(3);
  const auto random = [&](const Shape& shape) {
    const Tensor unit = rand(shape, float64, &generator);
    return to(low + (high - low) * unit, dtype);
  };
  std::vector<Tensor> made = {random({}),
                              random({7}),
                              random({2, 3, 5}),
                              random({0, 4}),
                              random({1, 1, 1, 1, 1, 2, 3}),
                              transpose(random({37, 41})),
                              permute(random({2, 3, 4}), {2, 0, 1}),
                              slice(random({3, 20}), 1, 1, 20, 3),
                              select(random({4, 5}), 1, 2),
                              expand(random({3, 1}), {2, 3, 4}),
                              expand(random({}), {5})};
  if (dtype == float32) {
    for (const int64_t n : {kernel::kBlock - 1, kernel::kBlock, kernel::kBlock + 1})
      made.push_back(random({n}));
    made.push_back(slice(random({2 * kernel::kBlock + 2}), 0, 1, 2 * kernel::kBlock + 2, 2));
  }
  return made;
}

// Equal but for rounding: to a few units of the dtype.
bool close(double got, double want, DType dtype) {
  if (std::isnan(want)) return std::isnan(got);
  if (!std::isfinite(want) || want == got) return want == got;
  if (!is_floating(dtype)) return false;
  const double unit = dtype == float32 ? 1.2e-7 : 2.3e-16;
  return std::fabs(got - want) <= 16 * unit * std::max(std::fabs(want), 1.0);
}

size_t wrong(const Tensor& got, const Values& want, DType inputs) {
  const Values y = values(got);
  size_t count = y.size() != want.size();
  for (size_t i = 0; i < y.size() && i < want.size(); ++i) count += !close(y[i], want[i], inputs);
  return count;
}

bool new_and_contiguous(const Tensor& y, const Shape& shape, DType dtype) {
  return y.unique() && y.is_contiguous() && y.shape() == shape && y.dtype() == dtype;
}

struct Map {
  std::string name;
  std::function<Tensor(const Tensor&)> kernel;
  double (*plain)(double);
  double low, high;
  bool of_integers = false;
  bool gives_bool = false;
};

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }
double normal_below(double x) { return (1 + std::erf(x / std::sqrt(2.0))) / 2; }

const Map maps[] = {
    {"exp", heed::exp, [](double x) { return std::exp(x); }, -3, 3},
    {"expm1", heed::expm1, [](double x) { return std::expm1(x); }, -3, 3},
    {"log", heed::log, [](double x) { return std::log(x); }, -1, 5},
    {"log1p", heed::log1p, [](double x) { return std::log1p(x); }, -2, 5},
    {"sqrt", heed::sqrt, [](double x) { return std::sqrt(x); }, -1, 5},
    {"rsqrt", heed::rsqrt, [](double x) { return 1 / std::sqrt(x); }, -1, 5},
    {"reciprocal", heed::reciprocal, [](double x) { return 1 / x; }, -4, 4},
    {"sin", heed::sin, [](double x) { return std::sin(x); }, -9, 9},
    {"cos", heed::cos, [](double x) { return std::cos(x); }, -9, 9},
    {"tanh", heed::tanh, [](double x) { return std::tanh(x); }, -4, 4},
    {"sigmoid", heed::sigmoid, sigmoid_of, -9, 9},
    {"erf", heed::erf, [](double x) { return std::erf(x); }, -3, 3},
    {"silu", heed::silu, [](double x) { return x * sigmoid_of(x); }, -9, 9},
    {"gelu", [](auto& x) { return gelu(x); }, [](double x) { return x * normal_below(x); }, -4, 4},
    {"gelu_tanh", [](auto& x) { return gelu(x, Gelu::tanh); },
     [](double x) {
       return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
     },
     -4, 4},
    {"leaky_relu", [](auto& x) { return heed::leaky_relu(x, 0.25); },
     [](double x) { return x > 0 ? x : x / 4; }, -3, 3},
    {"elu", [](auto& x) { return heed::elu(x, 0.5); }, [](double x) { return x > 0 ? x : std::expm1(x) / 2; },
     -3, 3},
    {"softplus", [](auto& x) { return heed::softplus(x, 2, 3); },
     [](double x) { return 2 * x > 3 ? x : std::log1p(std::exp(2 * x)) / 2; }, -3, 3},
    {"abs", heed::abs, [](double x) { return std::fabs(x); }, -9, 9, true},
    {"neg", heed::neg, [](double x) { return -x; }, -9, 9, true},
    {"square", heed::square, [](double x) { return x * x; }, -9, 9, true},
    {"sign", heed::sign, [](double x) { return double((x > 0) - (x < 0)); }, -3, 3, true},
    {"floor", heed::floor, [](double x) { return std::floor(x); }, -9, 9, true},
    {"relu", heed::relu, [](double x) { return x > 0 ? x : 0; }, -9, 9, true},
    {"clamp", [](auto& x) { return heed::clamp(x, -2, 3); },
     [](double x) { return std::min(std::max(x, -2.0), 3.0); }, -9, 9, true},
    {"clamp below", [](auto& x) { return heed::clamp(x, {}, 3); }, [](double x) { return std::min(x, 3.0); },
     -9, 9, true},
    {"clone", kernel::clone, [](double x) { return x; }, -9, 9, true},
    {"isnan", heed::isnan, [](double x) { return double(std::isnan(x)); }, -1, 1, true, true},
    {"isfinite", heed::isfinite, [](double x) { return double(std::isfinite(x)); }, -1, 1, true, true},
    {"logical_not", heed::logical_not, [](double x) { return double(x == 0); }, -1, 1, true, true},
};

struct Zip {
  std::string name;
  std::function<Tensor(const Tensor&, const Tensor&)> kernel;
  double (*plain)(double, double);
  bool of_integers = false;
  bool gives_bool = false;
};

const Zip zips[] = {
    {"add", [](auto& a, auto& b) { return heed::add(a, b); }, [](double a, double b) { return a + b; }, true},
    {"add 3", [](auto& a, auto& b) { return heed::add(a, b, 3); },
     [](double a, double b) { return a + 3 * b; }, true},
    {"sub", [](auto& a, auto& b) { return heed::sub(a, b); }, [](double a, double b) { return a - b; }, true},
    {"sub 3", [](auto& a, auto& b) { return heed::sub(a, b, 3); },
     [](double a, double b) { return a - 3 * b; }, true},
    {"mul", kernel::mul, [](double a, double b) { return a * b; }, true},
    {"div", [](auto& a, auto& b) { return a / b; }, [](double a, double b) { return a / b; }},
    {"pow", [](auto& a, auto& b) { return heed::pow(heed::abs(a), b); },
     [](double a, double b) { return std::pow(std::fabs(a), b); }},
    {"maximum", heed::maximum, [](double a, double b) { return std::max(a, b); }, true},
    {"minimum", heed::minimum, [](double a, double b) { return std::min(a, b); }, true},
    {"eq", heed::eq, [](double a, double b) { return double(a == b); }, true, true},
    {"ne", heed::ne, [](double a, double b) { return double(a != b); }, true, true},
    {"lt", heed::lt, [](double a, double b) { return double(a < b); }, true, true},
    {"le", heed::le, [](double a, double b) { return double(a <= b); }, true, true},
};

}  // namespace

TEST_CASE("maps are their formulas, over memory of every kind") {
  for (const Map& map : maps)
    for (const DType dtype : {float32, float64, int64}) {
      if (dtype == int64 && !map.of_integers) continue;
      for (const Tensor& x : operands(dtype, map.low, map.high)) {
        Values want = values(x);
        for (double& v : want) v = map.plain(v);
        const Tensor y = map.kernel(x);
        CHECK_MESSAGE(new_and_contiguous(y, x.shape(), map.gives_bool ? boolean : dtype), map.name);
        CHECK_MESSAGE(wrong(y, want, dtype) == 0, map.name, " of ", to_string(x.shape()), " ",
                      to_string(dtype));
      }
    }
}

TEST_CASE("zips are their formulas, over memory of every kind and broadcast") {
  for (const Zip& zip : zips)
    for (const DType dtype : {float32, float64, int64}) {
      if (dtype == int64 && !zip.of_integers) continue;
      const auto check_pair = [&](const Tensor& a, const Tensor& b) {
        const Shape shape = broadcast_shapes(a.shape(), b.shape());
        const Values u = values(expand(a, shape)), v = values(expand(b, shape));
        Values want(u.size());
        for (size_t i = 0; i < u.size(); ++i) want[i] = zip.plain(u[i], v[i]);
        const Tensor y = zip.kernel(a, b);
        CHECK_MESSAGE(new_and_contiguous(y, shape, zip.gives_bool ? boolean : dtype), zip.name);
        CHECK_MESSAGE(wrong(y, want, dtype) == 0, zip.name, " of ", to_string(a.shape()), " and ",
                      to_string(b.shape()), " ", to_string(dtype));
      };
      const std::vector<Tensor> as = operands(dtype, -3, 3), bs = operands(dtype, -2, 4);
      for (size_t i = 0; i < as.size(); ++i) {
        check_pair(as[i], bs[i]);
        check_pair(as[i], bs[0]);  // a scalar
        check_pair(bs[0], as[i]);
      }
      const Tensor row = as[1], column = unsqueeze(bs[1], 1);  // [7] and [7, 1]
      check_pair(row, column);
      check_pair(column, row);
    }
}

TEST_CASE("infinities and NaN") {
  const Tensor a = tensor({kNaN, 1, kInf, -kInf, kNaN, 0, -0.0}), b = tensor({1, kNaN, 1, 1, kNaN, -0.0, 0});
  const auto same = [](const Tensor& got, const Values& want) { return wrong(got, want, float32) == 0; };
  CHECK(same(heed::maximum(a, b), {kNaN, kNaN, kInf, 1, kNaN, 0, 0}));
  CHECK(same(heed::minimum(a, b), {kNaN, kNaN, 1, -kInf, kNaN, 0, 0}));
  CHECK(same(heed::eq(a, b), {0, 0, 0, 0, 0, 1, 1}));
  CHECK(same(heed::ne(a, b), {1, 1, 1, 1, 1, 0, 0}));
  CHECK(same(heed::lt(a, b), {0, 0, 0, 1, 0, 0, 0}));
  CHECK(same(heed::le(a, b), {0, 0, 0, 1, 0, 1, 1}));
  CHECK(same(heed::isnan(a), {1, 0, 0, 0, 1, 0, 0}));
  CHECK(same(heed::isfinite(a), {0, 1, 0, 0, 0, 1, 1}));
  CHECK(same(heed::relu(a), {kNaN, 1, kInf, 0, kNaN, 0, 0}));
  CHECK(same(heed::clamp(a, -1, 1), {kNaN, 1, 1, -1, kNaN, 0, 0}));
  CHECK(same(heed::abs(a), {kNaN, 1, kInf, kInf, kNaN, 0, 0}));
  CHECK(same(heed::sigmoid(a), {kNaN, sigmoid_of(1), 1, 0, kNaN, 0.5, 0.5}));
  CHECK(same(heed::softplus(a, 1, 20),
             {kNaN, std::log1p(std::exp(1)), kInf, 0, kNaN, std::log(2), std::log(2)}));
  const Tensor x = tensor({kNaN, 0}).requires_grad_();
  heed::relu(x).backward(tensor({5, 5}));
  CHECK(same(x.grad(), {5, 0}));
}

TEST_CASE("casts between all dtypes") {
  const Tensor x = tensor({{0, 1, -2.75}, {2.5, 100, 0}}, float64);
  for (const DType from : {float32, float64, int64, boolean})
    for (const DType to_dtype : {float32, float64, int64, boolean}) {
      const Tensor source = transpose(kernel::cast(x, from));
      Values want = values(source);
      for (double& v : want) v = to_dtype == boolean ? v != 0 : to_dtype == int64 ? std::trunc(v) : v;
      const Tensor y = kernel::cast(source, to_dtype);
      CHECK(new_and_contiguous(y, {3, 2}, to_dtype));
      CHECK(values(y) == want);
    }
  CHECK(values(kernel::cast(x, boolean)) == Values{0, 1, 1, 1, 1, 0});
}

TEST_CASE("contiguous copies only what is not") {
  const Tensor x = ones({2, 3});
  CHECK(kernel::contiguous(x).same_as(x));
  CHECK_FALSE(kernel::clone(x).body().storage.get() == x.body().storage.get());
  CHECK(kernel::contiguous(transpose(x)).is_contiguous());
}

TEST_CASE("writes into memory of every kind") {
  for (const DType dtype : {float32, float64, int64}) {
    const auto updated = [&](const auto& update) {
      const Tensor whole_tensor = to(reshape(arange(1, 13), {3, 4}), dtype);
      update(transpose(slice(whole_tensor, 1, 0, 4, 2)));  // [[1, 5, 9], [3, 7, 11]]
      return values(whole_tensor);
    };
    const Tensor row = to(tensor({2, 4, 8}), dtype);
    CHECK(updated([&](const Tensor& x) { kernel::add_into(x, row); }) ==
          Values{3, 2, 5, 4, 9, 6, 11, 8, 17, 10, 19, 12});
    CHECK(updated([&](const Tensor& x) { kernel::add_into(x, row, 2); }) ==
          Values{5, 2, 7, 4, 13, 6, 15, 8, 25, 10, 27, 12});
    CHECK(updated([&](const Tensor& x) { kernel::mul_into(x, row); }) ==
          Values{2, 2, 6, 4, 20, 6, 28, 8, 72, 10, 88, 12});
    CHECK(updated([&](const Tensor& x) { kernel::fill(x, 7); }) ==
          Values{7, 2, 7, 4, 7, 6, 7, 8, 7, 10, 7, 12});
    CHECK(updated([&](const Tensor& x) {
            kernel::copy_into(x, tensor({0, 1, 0}, boolean));
          }) == Values{0, 2, 0, 4, 1, 6, 1, 8, 0, 10, 0, 12});
  }
}

TEST_CASE("where and logic") {
  const Tensor condition = tensor({{true}, {false}}, boolean);
  CHECK(values(kernel::where(condition, tensor({1, 2, 3}), tensor(kInf))) ==
        Values{1, 2, 3, kInf, kInf, kInf});
  CHECK(values(kernel::where(condition, tensor({1}, int64), tensor({2}, int64))) == Values{1, 2});
  const Tensor a = tensor({0, 0, 1, 1}, boolean), b = tensor({0, 1, 0, 1}, boolean);
  CHECK(values(heed::logical_and(a, b)) == Values{0, 0, 0, 1});
  CHECK(values(heed::logical_or(a, b)) == Values{0, 1, 1, 1});
  CHECK(values(heed::logical_not(a)) == Values{1, 1, 0, 0});
  CHECK(values(heed::eq(a, b)) == Values{1, 0, 0, 1});
}

TEST_CASE("whole numbers beyond what doubles can count stay exact") {
  const int64_t large = (int64_t{1} << 60) + 1;
  const Tensor x = from_vector(std::vector<int64_t>{large, -large}, {2}), one = ones({}, int64);
  CHECK(kernel::add(x, one).to_vector<int64_t>() == std::vector<int64_t>{large + 1, 1 - large});
  CHECK(kernel::add(x, one, 3).to_vector<int64_t>() == std::vector<int64_t>{large + 3, 3 - large});
  CHECK(heed::maximum(x, heed::neg(x)).to_vector<int64_t>() == std::vector<int64_t>{large, large});
  CHECK(heed::floor(x).to_vector<int64_t>() == std::vector<int64_t>{large, -large});
}

TEST_CASE("kernels name what they cannot take") {
  CHECK(message([] {
          heed::exp(ones({2}, int64));
        }).find("exp: x is int64 [2]; this operation is for float32 and float64") == 0);
  CHECK(message([] { kernel::add(ones({2}, boolean), ones({2}, boolean)); }).find("expected numbers") == 0);
  CHECK(message([] {
          kernel::mul(ones({2}), ones({3}));
        }).find("a is [2], b is [3]: they do not broadcast") != std::string::npos);
}

TEST_CASE("sums and products of int64 wrap around") {
  constexpr int64_t most = std::numeric_limits<int64_t>::max(), least = std::numeric_limits<int64_t>::min();
  using Whole = std::vector<int64_t>;
  const Tensor x = from_vector(Whole{most, least}, {2}), y = from_vector(Whole{most, 2}, {2});
  CHECK((x + 1).to_vector<int64_t>() == Whole{least, least + 1});
  CHECK((x - 1).to_vector<int64_t>() == Whole{most - 1, most});
  CHECK(sub(x, x, 2).to_vector<int64_t>() == Whole{-most, least});
  CHECK((x * 2).to_vector<int64_t>() == Whole{-2, 0});
  CHECK(square(x).to_vector<int64_t>() == Whole{1, 0});
  CHECK((-x).to_vector<int64_t>() == Whole{-most, least});
  CHECK(sum(y).item<int64_t>() == least + 1);
  CHECK(prod(y).item<int64_t>() == -2);
  CHECK(cumsum(y, 0).to_vector<int64_t>() == Whole{most, least + 1});
}
