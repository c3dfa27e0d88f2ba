#include "tensor/kernels/reduce.h"

#include <doctest/doctest.h>

#include <algorithm>
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

// For each element of the result, in row-major order, the elements of x that it is made of.
std::vector<Values> groups(const Tensor& x, const Shape& dims) {
  const Shape kept = reduced_shape(x.shape(), dims, true);
  std::vector<Values> made(static_cast<size_t>(numel(kept)));
  const Values all = values(x);
  const Strides strides = contiguous_strides(kept);
  for (size_t i = 0; i < all.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i), group = 0;
    for (int64_t d = x.dim() - 1; d >= 0; rest /= x.shape()[d--])
      if (kept[d] != 1) group += rest % x.shape()[d] * strides[d];
    made[static_cast<size_t>(group)].push_back(all[i]);
  }
  return made;
}

double sum_of(const Values& v) {
  double total = 0;
  for (const double x : v) total += x;
  return total;
}
double mean_of(const Values& v) { return sum_of(v) / static_cast<double>(v.size()); }

const struct Reduction {
  std::string name;
  Tensor (*kernel)(const Tensor&, const Shape&, bool);
  double (*plain)(const Values&);
  bool of_integers;
} reductions[] = {
    {"sum", kernel::sum, sum_of, true},
    {"mean", kernel::mean, mean_of, false},
    {"amax", kernel::amax,
     [](const Values& v) { return v.empty() ? -kInf : *std::max_element(v.begin(), v.end()); }, true},
    {"amin", kernel::amin,
     [](const Values& v) { return v.empty() ? kInf : *std::min_element(v.begin(), v.end()); }, true},
    {"logsumexp", kernel::logsumexp,
     [](const Values& v) {
       double total = 0;
       for (const double x : v) total += std::exp(x);
       return std::log(total);
     },
     false},
    {"var",
     [](const Tensor& x, const Shape& dims, bool keepdim) { return kernel::var(x, dims, 2.5, keepdim); },
     [](const Values& v) {
       const double mean = mean_of(v);
       double total = 0;
       for (const double x : v) total += (x - mean) * (x - mean);
       return total / 2.5;
     },
     false},
};

size_t wrong(const Tensor& got, const Values& want, double tolerance) {
  const Values y = values(got);
  size_t count = y.size() != want.size();
  for (size_t i = 0; i < y.size() && i < want.size(); ++i) {
    const bool equal = y[i] == want[i] || (std::isnan(y[i]) && std::isnan(want[i]));
    count += !equal && !(std::fabs(y[i] - want[i]) <= tolerance * std::max(1.0, std::fabs(want[i])));
  }
  return count;
}

void check_reductions(const Tensor& x, const Shape& dims) {
  const std::vector<Values> parts = groups(x, dims);
  for (const Reduction& reduction : reductions) {
    if (!is_floating(x.dtype()) && !reduction.of_integers) continue;
    Values want;
    for (const Values& part : parts) want.push_back(reduction.plain(part));
    const double tolerance = x.dtype() == float32 ? 1e-5 : x.dtype() == float64 ? 1e-12 : 0;
    for (const bool keepdim : {false, true}) {
      const Tensor y = reduction.kernel(x, dims, keepdim);
      CHECK(y.shape() == reduced_shape(x.shape(), dims, keepdim));
      CHECK(y.is_contiguous());
      CHECK_MESSAGE(wrong(y, want, tolerance) == 0, reduction.name, " of ", to_string(x.shape()), " ",
                    to_string(x.dtype()), " over ", to_string(dims));
    }
  }
}

Tensor random(const Shape& shape, DType dtype) {
  Generator generator(6);
  if (dtype == int64) return randint(-3, 4, shape, &generator);
  return rand(shape, dtype, &generator) * 2 - 0.9;
}

}  // namespace

TEST_CASE("reductions are their formulas, over every choice of dimensions and memory of every kind") {
  for (const DType dtype : {float32, float64, int64}) {
    const Tensor layouts[] = {random({3, 4, 5}, dtype),
                              permute(random({5, 3, 4}, dtype), {1, 2, 0}),
                              permute(random({4, 5, 3}, dtype), {2, 0, 1}),
                              slice(random({3, 4, 11}, dtype), 2, 1, 11, 2),
                              expand(random({4, 1}, dtype), {3, 4, 5}),
                              random({1, 4, 1}, dtype)};
    for (const Tensor& x : layouts)
      for (const Shape& dims :
           {Shape{}, Shape{0}, Shape{1}, Shape{2}, Shape{0, 1}, Shape{0, 2}, Shape{1, 2}, Shape{0, 1, 2}})
        check_reductions(x, dims);
    check_reductions(random({}, dtype), {});
  }
}

TEST_CASE("sizes about blocks, rows and stretches of lines") {
  constexpr int64_t block = kernel::kBlock;
  const auto scaled = [](const Shape& shape) {
    return random(shape, float64) / 100 + 1;
  };  // products stay small
  for (const int64_t n : {block - 1, block, block + 1, 2 * block + 1}) check_reductions(scaled({n}), {0});
  for (const Shape& shape : {Shape{3, block + 1}, Shape{block + 1, 3}, Shape{129, 513}, Shape{700, 511},
                             Shape{2, 7, 512}, Shape{2, 9, 513}})
    for (int64_t dim = 0; dim < shape.dim(); ++dim) check_reductions(scaled(shape), {dim});
  check_reductions(transpose(scaled({600, 70})), {0});
  check_reductions(transpose(scaled({600, 70})), {1});
  check_reductions(permute(scaled({2, 300, 120}), {0, 2, 1}), {0, 2});
}

TEST_CASE("nothing to reduce") {
  const auto is = [](const Tensor& y, const Shape& shape, double value) {
    return y.shape() == shape && wrong(y, Values(static_cast<size_t>(numel(shape)), value), 0) == 0;
  };
  const Tensor x = zeros({2, 0});
  CHECK(is(kernel::sum(x, {1}, false), {2}, 0));
  CHECK(is(kernel::sum(x, {0}, false), {0}, 0));
  CHECK(is(kernel::mean(x, {1}, false), {2}, kNaN));
  CHECK(is(kernel::amax(x, {1}, true), {2, 1}, -kInf));
  CHECK(is(kernel::amin(x, {1}, false), {2}, kInf));
  CHECK(is(kernel::logsumexp(x, {1}, false), {2}, -kInf));
  CHECK(is(kernel::var(x, {1}, 1, false), {2}, 0));
  CHECK(kernel::cumsum(x, 1).shape() == Shape{2, 0});
  CHECK(kernel::max(x, 0, false).values.shape() == Shape{0});
}

TEST_CASE("int64 and bool are counted in int64") {
  const Tensor mask = tensor({{true, false, true}, {true, true, true}}, boolean);
  CHECK(kernel::sum(mask, {1}, false).dtype() == int64);
  CHECK(values(kernel::sum(mask, {1}, false)) == Values{2, 3});
  CHECK(values(kernel::cumsum(mask, 1)) == Values{1, 1, 2, 1, 2, 3});
  CHECK(kernel::amax(mask, {0}, false).dtype() == boolean);
  CHECK(values(kernel::amax(mask, {0}, false)) == Values{1, 1, 1});
  CHECK(values(kernel::amin(mask, {0}, false)) == Values{1, 0, 1});
  const int64_t large = (int64_t{1} << 60) + 1;
  CHECK(kernel::sum(from_vector(std::vector<int64_t>{large, 1}, {2}), {0}, false).item<int64_t>() ==
        large + 1);
  CHECK(message([] {
          kernel::mean(ones({2}, int64), {0}, false);
        }).find("mean: expected a floating tensor") == 0);
}

TEST_CASE("long float32 sums are as good as their dtype") {
  constexpr int64_t n = 10'000'000;
  const Tensor x = full({n}, 0.1);
  const double exact = 0.1f * double(n);
  CHECK(std::fabs(kernel::sum(x, {0}, false).item() - exact) < 1e-6 * exact);
  CHECK(kernel::mean(x, {0}, false).item() == doctest::Approx(0.1f).epsilon(1e-6));
  const Tensor columns = x.view_as({n / 10, 10}, {10, 1}, 0);
  for (const double v : values(kernel::sum(columns, {0}, false)))
    CHECK(std::fabs(v - exact / 10) < 1e-7 * exact);
  CHECK(kernel::var(full({100000}, 1000.1), {0}, 1e5, false).item() < 1e-6);  // no squares of large means
}

TEST_CASE("infinities and NaN") {
  const Tensor x = tensor({{1, kNaN, 3}, {kInf, 1, -kInf}, {-kInf, -kInf, -kInf}, {kInf, kInf, 0}});
  const auto is = [&](const Tensor& y, const Values& want) { return wrong(y, want, 1e-6) == 0; };
  CHECK(is(kernel::amax(x, {1}, false), {kNaN, kInf, -kInf, kInf}));
  CHECK(is(kernel::amin(x, {1}, false), {kNaN, -kInf, -kInf, 0}));
  CHECK(is(kernel::logsumexp(x, {1}, false), {kNaN, kInf, -kInf, kInf}));
  CHECK(is(kernel::sum(x, {1}, false), {kNaN, kNaN, -kInf, kInf}));
  CHECK(is(kernel::logsumexp(tensor({1000, 1000}), {0}, false), {1000 + std::log(2)}));
  // NaN wins wherever it stands in a line of any length.
  for (const int64_t n : {5, 16, 64, 200})
    for (const int64_t at : {int64_t{0}, n / 2, n - 1}) {
      const Tensor line = zeros({n, 3});
      line.mutable_data<float>()[at * 3 + 1] = static_cast<float>(kNaN);
      CHECK(is(kernel::amax(line, {0}, false), {0, kNaN, 0}));
      CHECK(is(kernel::amin(transpose(line), {1}, false), {0, kNaN, 0}));
      CHECK(std::isnan(kernel::amax(kernel::sum(line, {1}, false), {0}, false).item()));
    }
}

TEST_CASE("extremes and where they stand first") {
  const Tensor x = tensor({{3, 1, 3, 1}, {-1, kNaN, 7, kNaN}, {-kInf, -kInf, -kInf, -kInf}});
  const kernel::Extreme high = kernel::max(x, 1, false), low = kernel::min(x, 1, true);
  CHECK(wrong(high.values, {3, kNaN, -kInf}, 0) == 0);
  CHECK(values(high.indices) == Values{0, 1, 0});
  CHECK(high.indices.dtype() == int64);
  CHECK(low.values.shape() == Shape{3, 1});
  CHECK(wrong(low.values, {1, kNaN, -kInf}, 0) == 0);
  CHECK(values(low.indices) == Values{1, 1, 0});
  const kernel::Extreme columns = kernel::max(transpose(tensor({{1, 5}, {9, 2}, {9, 5}}, int64)), 1, false);
  CHECK(values(columns.values) == Values{9, 5});
  CHECK(values(columns.indices) == Values{1, 0});
  const Tensor wide = random({9, 600}, float32);  // more lines than are worked on together
  const kernel::Extreme found = kernel::max(wide, 0, false);
  CHECK(values(found.values) == values(kernel::amax(wide, {0}, false)));
  CHECK(values(gather(wide, 0, unsqueeze(found.indices, 0))) == values(found.values));
}

TEST_CASE("running sums") {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}});
  CHECK(values(kernel::cumsum(x, 0)) == Values{1, 2, 3, 5, 7, 9});
  CHECK(values(kernel::cumsum(x, 1)) == Values{1, 3, 6, 4, 9, 15});
  CHECK(values(kernel::cumsum(x, 1, true)) == Values{6, 5, 3, 15, 11, 6});
  CHECK(values(kernel::cumsum(transpose(x), 0)) == Values{1, 4, 3, 9, 6, 15});
  CHECK(kernel::cumsum(ones({(1 << 24) + 4}), 0).data<float>()[(1 << 24) + 3] == (1 << 24) + 4);  // in double
}

TEST_CASE("the same bits on any number of threads") {
  const Tensor x = random({70000}, float32), y = random({300, 700}, float32);
  const auto all = [&] {
    Values bits;
    for (const Tensor& part :
         {kernel::sum(x, {0}, false), kernel::sum(y, {0}, false), kernel::sum(y, {1}, false),
          kernel::sum(y, {0, 1}, false), kernel::var(x, {0}, 1, false), kernel::cumsum(y, 0)})
      for (const double v : values(part)) bits.push_back(v);
    return bits;
  };
  const auto on = [&](int threads) {
    const Threads guard(threads);
    return all();
  };
  const Values one = on(1);
  CHECK(on(2) == one);
  CHECK(on(3) == one);
}
