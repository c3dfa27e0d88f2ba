#include "tensor/kernels/softmax.h"

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/map.h"
#include "tensor/kernels/outer_inner.h"
#include "tensor/kernels/plain.h"
#include "tensor/kernels/reduce.h"

namespace heed::kernel {
namespace {

// Lines that pass through each step together: the steps of one short line would wait for each other.
constexpr int64_t kLinesAtOnce = 16;

// Calls f(a, b, y, lines, n) with groups of lines of n adjacent values: the lines of a, of b and of the
// result along dim.
Tensor by_lines(const Tensor& strided_a, const Tensor& strided_b, int64_t dim, const auto& f) {
  const Tensor a = contiguous(last_swapped_with(strided_a, dim));
  const Tensor b = strided_b.same_as(strided_a) ? a : contiguous(last_swapped_with(strided_b, dim));
  const Tensor y = Tensor::empty(a.shape(), a.dtype());
  const int64_t n = a.dim() == 0 ? 1 : a.size(-1), lines = n == 0 ? 0 : a.numel() / n;
  const int64_t group = std::clamp<int64_t>(kRun / std::max<int64_t>(1, n), 1, kLinesAtOnce);
  visit_floating(a.dtype(), [&]<class T>(Type<T>) {
    each_row(ceil_div(lines, group), group * n,
             [&, as = a.data<T>(), bs = b.data<T>(), ys = y.mutable_data<T>()](int64_t i) {
               const int64_t at = i * group * n;
               f(as + at, bs + at, ys + at, std::min(group, lines - i * group), n);
             });
  });
  return contiguous(last_swapped_with(y, dim));
}

// Calls f(a, b, y, n) with one line at a time.
Tensor by_line(const Tensor& a, const Tensor& b, int64_t dim, const auto& f) {
  return by_lines(a, b, dim, [&f](auto* a_, auto* b_, auto* y, int64_t lines, int64_t n) {
    for (; lines > 0; --lines, a_ += n, b_ += n, y += n) f(a_, b_, y, n);
  });
}

// y_i = exp(x_i - m) / s, or its logarithm, with m the largest x of a line and s = sum_i exp(x_i - m), which
// lies between 1 and n. A line of -inf gives NaN, or 0 if masked.
Tensor forward(SoftmaxForm form, const Tensor& x, int64_t dim) {
  if (reference_mode()) return plain::softmax(x, dim, form);
  return by_lines(x, x, dim, [form]<class T>(const T* x_, const T*, T* y, int64_t lines, int64_t n) {
    T max[kLinesAtOnce];
    double sum[kLinesAtOnce];
    for (int64_t l = 0; l < lines; ++l) {
      max[l] = max_line(n, minus_infinity<T>, x_ + l * n);
      if (form == SoftmaxForm::masked) max[l] = shift_of(max[l]);
    }
    for (int64_t l = 0; l < lines; ++l) sum[l] = exp_line(n, x_ + l * n, max[l], y + l * n);
    for (int64_t l = 0; l < lines; ++l, x_ += n, y += n) {
      if (form == SoftmaxForm::log) {
        const T shift = max[l], log_sum = static_cast<T>(std::log(sum[l]));
        HEED_VECTORIZE
        for (int64_t i = 0; i < n; ++i) y[i] = (x_[i] - shift) - log_sum;
      } else {
        const T scale = static_cast<T>(sum[l] == 0 ? 0 : 1 / sum[l]);
        HEED_VECTORIZE
        for (int64_t i = 0; i < n; ++i) y[i] *= scale;
      }
    }
  });
}

}  // namespace

Tensor softmax(const Tensor& x, int64_t dim) { return forward(SoftmaxForm::plain, x, dim); }
Tensor masked_softmax(const Tensor& x, int64_t dim) { return forward(SoftmaxForm::masked, x, dim); }
Tensor log_softmax(const Tensor& x, int64_t dim) { return forward(SoftmaxForm::log, x, dim); }

// y_i = max(z_i - t, 0)^(1 / (alpha - 1)) with z = (alpha - 1) (x - max x), and t such that their sum is 1.
// If the k largest z are those above t, with sum s and sum of squares s2, then t is
//
//   (s - 1) / k                                        for alpha = 2
//   m - sqrt((1 - (s2 - k m^2)) / k)  with m = s / k   for alpha = 1.5
//
// and k is the most for which the k-th of them is above the t of k - 1. A heap brings the largest to the
// front, so that a sparse line costs little more than n. For another alpha, bisection finds t in [-1, 0].
Tensor entmax(const Tensor& x, int64_t dim, double alpha) {
  return by_line(x, x, dim, [alpha]<class T>(const T* x_, const T*, T* y, int64_t n) {
    if (std::any_of(x_, x_ + n, [](T v) { return !(v < std::numeric_limits<T>::infinity()); })) {
      std::fill_n(y, n, std::numeric_limits<T>::quiet_NaN());
      return;
    }
    const double max = shift_of(n == 0 ? 0.0 : static_cast<double>(*std::max_element(x_, x_ + n)));
    const auto z = [=](T v) { return (alpha - 1) * (static_cast<double>(v) - max); };
    const auto weight = [=](T v, double t) {
      const double above = std::max(0.0, z(v) - t);
      return alpha == 2 ? above : alpha == 1.5 ? above * above : std::pow(above, 1 / (alpha - 1));
    };
    double t = 0;
    if (alpha == 2 || alpha == 1.5) {
      std::copy_n(x_, n, y);
      std::make_heap(y, y + n);
      double sum = 0, squares = 0;
      for (int64_t k = 1; k <= n && (k == 1 || z(y[0]) > t); ++k) {
        const double count = static_cast<double>(k), value = z(y[0]), mean = (sum += value) / count;
        squares += value * value;
        t = alpha == 2 ? (sum - 1) / count
                       : mean - std::sqrt(std::max(0.0, 1 - (squares - count * mean * mean)) / count);
        std::pop_heap(y, y + (n - k + 1));
      }
    } else {
      double low = -1;  // where the largest alone has weight 1
      for (double high = 0; (t = (low + high) / 2) > low && t < high;) {
        double sum = 0;
        for (int64_t i = 0; i < n; ++i) sum += weight(x_[i], t);
        (sum < 1 ? high : low) = t;
      }
    }
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(weight(x_[i], t));
  });
}

Tensor softmax_backward(const Tensor& g, const Tensor& y, int64_t dim) {
  if (reference_mode()) return mul(y, sub(g, sum(mul(g, y), line_dims(g, dim), true)));
  return by_line(g, y, dim, []<class T>(const T* g_, const T* y_, T* dx, int64_t n) {
    const T dot = static_cast<T>(sum_line(n, std::multiplies<>(), g_, y_));
    HEED_VECTORIZE
    for (int64_t i = 0; i < n; ++i) dx[i] = y_[i] * (g_[i] - dot);
  });
}

Tensor log_softmax_backward(const Tensor& g, const Tensor& y, int64_t dim) {
  if (reference_mode())
    return sub(g, mul(map(y, [](auto v) { return math::exp(v); }), sum(g, line_dims(g, dim), true)));
  return by_line(g, y, dim, []<class T>(const T* g_, const T* y_, T* dx, int64_t n) {
    const T sum = static_cast<T>(sum_line(n, std::identity(), g_));
    HEED_VECTORIZE
    for (int64_t i = 0; i < n; ++i) dx[i] = g_[i] - math::exp_below(y_[i]) * sum;
  });
}

}  // namespace heed::kernel
