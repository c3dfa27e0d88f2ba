#include "tensor/kernels/softmax.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "heed.h"
#include "tensor/kernels/lines.h"
#include "tests/support/expect.h"

using namespace heed;

namespace {

using Values = std::vector<double>;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The four kernels by their definitions, in double.
struct Plain {
  Values softmax, log_softmax, softmax_backward, log_softmax_backward;

  Plain(const Tensor& g, const Tensor& x, int64_t dim) {
    const kernel::Lines lines(x.shape(), dim);
    const Values in = values(x), up = values(g);
    for (Values* out : {&softmax, &log_softmax, &softmax_backward, &log_softmax_backward})
      out->resize(in.size());
    for (int64_t o = 0; o < lines.outer; ++o)
      for (int64_t l = 0; l < lines.inner; ++l) {
        const auto at = [&](int64_t i) { return static_cast<size_t>((o * lines.n + i) * lines.inner + l); };
        double sum = 0, dot = 0, total = 0;
        for (int64_t i = 0; i < lines.n; ++i) sum += std::exp(in[at(i)]);
        for (int64_t i = 0; i < lines.n; ++i) {
          softmax[at(i)] = std::exp(in[at(i)]) / sum;
          log_softmax[at(i)] = in[at(i)] - std::log(sum);
          dot += up[at(i)] * softmax[at(i)];
          total += up[at(i)];
        }
        for (int64_t i = 0; i < lines.n; ++i) {
          softmax_backward[at(i)] = softmax[at(i)] * (up[at(i)] - dot);
          log_softmax_backward[at(i)] = up[at(i)] - softmax[at(i)] * total;
        }
      }
  }
};

size_t wrong(const Tensor& got, const Values& want, double tolerance) {
  const Values y = values(got);
  size_t count = y.size() != want.size() || !got.is_contiguous();
  for (size_t i = 0; i < y.size() && i < want.size(); ++i) {
    const bool equal = y[i] == want[i] || (std::isnan(y[i]) && std::isnan(want[i]));
    count += !equal && !(std::fabs(y[i] - want[i]) <= tolerance * std::max(1.0, std::fabs(want[i])));
  }
  return count;
}

}  // namespace

TEST_CASE("softmax and its kin are their formulas along every dimension of memory of every kind") {
  Generator generator(8);
  for (const DType dtype : {float32, float64}) {
    const auto random = [&](const Shape& shape) { return 3 * randn(shape, dtype, &generator); };
    const Tensor layouts[] = {random({7}),
                              random({2, 3, 5}),
                              transpose(random({6, 4})),
                              slice(random({3, 11}), 1, 1, 11, 2),
                              expand(random({3, 1}), {2, 3, 4}),
                              random({4, kernel::kWidth - 1}),
                              random({2, 3, kernel::kWidth + 1}),
                              random({kernel::kRun + 1, 2}),
                              random({3, kernel::kBlock / 2 + 1}),
                              random({5, 1}),
                              random({0, 3})};
    for (const Tensor& x : layouts)
      for (int64_t dim = 0; dim < x.dim(); ++dim) {
        const Tensor g = transpose(random({x.size(-1), numel(x.shape()) / std::max<int64_t>(1, x.size(-1))}));
        const Tensor up = reshape(g, x.shape());
        const Plain plain(up, x, dim);
        const double tolerance = dtype == float32 ? 2e-5 : 1e-12;
        const Tensor y = kernel::softmax(x, dim), z = kernel::log_softmax(x, dim);
        CHECK(y.shape() == x.shape());
        const std::string what = to_string(x.shape()) + " along " + std::to_string(dim);
        CHECK_MESSAGE(wrong(y, plain.softmax, tolerance) == 0, what);
        CHECK_MESSAGE(wrong(z, plain.log_softmax, tolerance) == 0, what);
        CHECK_MESSAGE(wrong(kernel::softmax_backward(up, y, dim), plain.softmax_backward, tolerance) == 0,
                      what);
        CHECK_MESSAGE(
            wrong(kernel::log_softmax_backward(up, z, dim), plain.log_softmax_backward, 10 * tolerance) == 0,
            what);
      }
  }
}

TEST_CASE("large, infinite and NaN logits, in lines and side by side") {
  const Tensor rows = tensor(
      {{1000, 1000, 0}, {-1000, -1000, -kInf}, {-kInf, 3, -kInf}, {0, kNaN, 1}, {-kInf, -kInf, -kInf}});
  const Values soft = {0.5, 0.5, 0, 0.5, 0.5, 0, 0, 1, 0, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN};
  const double half = std::log(0.5);
  const Values logs = {half,  half, half - 1000, half, half, -kInf, -kInf, 0,
                       -kInf, kNaN, kNaN,        kNaN, kNaN, kNaN,  kNaN};
  for (const DType dtype : {float32, float64}) {
    const Tensor x = to(rows, dtype), side_by_side = clone(transpose(x));
    CHECK(wrong(kernel::softmax(x, 1), soft, 1e-6) == 0);
    CHECK(wrong(kernel::log_softmax(x, 1), logs, 1e-6) == 0);
    CHECK(wrong(clone(transpose(kernel::softmax(side_by_side, 0))), soft, 1e-6) == 0);
    CHECK(wrong(clone(transpose(kernel::log_softmax(side_by_side, 0))), logs, 1e-6) == 0);
  }
}

TEST_CASE("the same bits on any number of threads") {
  Generator generator(8);
  const Tensor x = randn({400, 300}, float32, &generator);
  const auto on = [&](int threads, int64_t dim) {
    const Threads guard(threads);
    return values(kernel::softmax_backward(x, kernel::softmax(x, dim), dim));
  };
  for (const int64_t dim : {0, 1}) {
    const Values one = on(1, dim);
    CHECK(on(2, dim) == one);
    CHECK(on(3, dim) == one);
  }
}
