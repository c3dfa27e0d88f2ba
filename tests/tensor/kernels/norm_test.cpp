#include "tensor/kernels/norm.h"

#include <doctest/doctest.h>

#include <cmath>

#include "heed.h"
#include "tensor/kernels/loop.h"
#include "tests/support/expect.h"

using namespace heed;
using kernel::Centre;

namespace {

using Values = std::vector<double>;

// The formulas of the header, row by row in double.
struct Plain {
  Values y, mean, scale, dx, dweight, dbias;

  Plain(Centre centre, const Tensor& g, const Tensor& x, size_t n, const Tensor& weight, const Tensor& bias,
        double eps)
      : y(values(x)), dx(y.size()), dweight(n, 0), dbias(n, 0) {
    const Values in = values(x), up = values(g);
    const Values w = weight.defined() ? values(weight) : Values(n, 1),
                 b = bias.defined() ? values(bias) : Values(n, 0);
    for (size_t r = 0; r * n < in.size(); ++r) {
      double m = 0, variance = 0, along = 0, offset = 0;
      for (size_t i = 0; i < n && centre == Centre::mean; ++i) m += in[r * n + i] / double(n);
      for (size_t i = 0; i < n; ++i) variance += (in[r * n + i] - m) * (in[r * n + i] - m) / double(n);
      const double s = 1 / std::sqrt(variance + eps);
      mean.push_back(m);
      scale.push_back(s);
      const auto xhat = [&](size_t i) { return (in[r * n + i] - m) * s; };
      const auto h = [&](size_t i) { return up[r * n + i] * w[i]; };
      for (size_t i = 0; i < n; ++i) {
        y[r * n + i] = xhat(i) * w[i] + b[i];
        dweight[i] += up[r * n + i] * xhat(i);
        dbias[i] += up[r * n + i];
        along += h(i) * xhat(i) / double(n);
        if (centre == Centre::mean) offset += h(i) / double(n);
      }
      for (size_t i = 0; i < n; ++i) dx[r * n + i] = s * (h(i) - offset - xhat(i) * along);
    }
  }
};

size_t wrong(const Tensor& got, const Values& want, double tolerance) {
  const Values y = values(got);
  size_t count = y.size() != want.size() || !got.is_contiguous();
  for (size_t i = 0; i < y.size() && i < want.size(); ++i)
    count += !(std::fabs(y[i] - want[i]) <= tolerance * std::max(1.0, std::fabs(want[i])));
  return count;
}

}  // namespace

TEST_CASE("norms and their gradients are their formulas") {
  Generator generator(5);
  for (const DType dtype : {float32, float64})
    for (const Centre centre : {Centre::mean, Centre::zero})
      for (const bool weighted : {false, true})
        for (const bool biased : {false, true}) {
          const auto random = [&](const Shape& shape) { return randn(shape, dtype, &generator); };
          const auto check_norm = [&](const Tensor& x, int64_t n) {
            const Tensor weight = weighted ? random({n}) : Tensor(), bias = biased ? random({n}) : Tensor();
            const Tensor g =
                reshape(transpose(random({x.numel() / std::max<int64_t>(n, 1), n}), 0, 1), x.shape());
            const double eps = 0.25, tolerance = dtype == float32 ? 1e-4 : 1e-11;
            const kernel::Normed out = kernel::norm(centre, x, n, weight, bias, eps);
            const Plain plain(centre, g, x, static_cast<size_t>(n), weight, bias, eps);
            const std::string what = to_string(x.shape()) + " rows of " + std::to_string(n);
            CHECK_MESSAGE(out.y.shape() == x.shape(), what);
            CHECK_MESSAGE(wrong(out.y, plain.y, tolerance) == 0, what);
            CHECK_MESSAGE(wrong(out.scale, plain.scale, tolerance) == 0, what);
            CHECK(out.mean.defined() == (centre == Centre::mean));
            if (out.mean.defined()) CHECK_MESSAGE(wrong(out.mean, plain.mean, tolerance) == 0, what);
            const kernel::NormGradients d = kernel::norm_backward(g, x, n, weight, out);
            CHECK_MESSAGE(wrong(d.x, plain.dx, tolerance) == 0, what);
            CHECK_MESSAGE(wrong(d.weight, plain.dweight, 10 * tolerance) == 0, what);
            CHECK_MESSAGE(wrong(d.bias, plain.dbias, 10 * tolerance) == 0, what);
          };
          for (const int64_t n : {1, 2, 7, 8, 64, 513}) check_norm(random({3, n}), n);
          check_norm(random({2, 3, 4}), 12);
          check_norm(transpose(random({6, 5})), 6);
          check_norm(expand(random({4}), {3, 4}), 4);
          check_norm(random({0, 5}), 5);
          check_norm(random({700, 33}), 33);  // several blocks of rows
        }
}

TEST_CASE("rows that do not vary, and rows far from zero") {
  const Tensor same = full({2, 4}, 3);
  const kernel::Normed flat = kernel::norm(Centre::mean, same, 4, {}, {}, 1e-5);
  CHECK(values(flat.y) == Values(8, 0));
  CHECK(wrong(flat.scale, Values(2, 1 / std::sqrt(1e-5)), 1e-6) == 0);
  const Tensor far = tensor({{10000, 10001, 10002, 10003}});
  const double s = 1 / std::sqrt(1.25 + 1e-5);
  CHECK(wrong(kernel::norm(Centre::mean, far, 4, {}, {}, 1e-5).y, {-1.5 * s, -0.5 * s, 0.5 * s, 1.5 * s},
              1e-5) == 0);
}

TEST_CASE("the same bits on any number of threads") {
  Generator generator(5);
  const Tensor x = randn({3000, 40}, float32, &generator), w = randn({40}, float32, &generator);
  const auto on = [&](int threads) {
    const Threads guard(threads);
    const kernel::Normed out = kernel::norm(Centre::mean, x, 40, w, w, 1e-5);
    const kernel::NormGradients d = kernel::norm_backward(out.y, x, 40, w, out);
    Values bits = values(d.x);
    for (const Tensor& more : {d.weight, d.bias})
      for (const double v : values(more)) bits.push_back(v);
    return bits;
  };
  const Values one = on(1);
  CHECK(on(2) == one);
  CHECK(on(3) == one);
}
