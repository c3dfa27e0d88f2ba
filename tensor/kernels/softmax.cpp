#include "tensor/kernels/softmax.h"

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/outer_inner.h"

namespace heed::kernel {
namespace {

enum class Form { plain, masked, log };

constexpr int64_t kGroup =
    16;  // lines that go through each step together: alone, a short one waits at every step

// OuterInner of n neighbouring values: y_i = exp(x_i - m) / s, or its logarithm, with m the largest x and
// s = sum_i exp(x_i - m), which lies between 1 and n. A line of -inf alone gives NaN, masked 0.
template <class T>
void softmax_lines(Form form, const T* x, T* y, int64_t lines, int64_t n) {
  T most[kGroup];
  double sum[kGroup];
  for (int64_t l = 0; l < lines; ++l) {
    most[l] = max_line(n, minus_infinity<T>, x + l * n);
    if (form == Form::masked) most[l] = shift_of(most[l]);
  }
  for (int64_t l = 0; l < lines; ++l) sum[l] = exp_line(n, x + l * n, most[l], y + l * n);
  for (int64_t l = 0; l < lines; ++l, x += n, y += n) {
    if (form == Form::log) {
      const T shift = most[l], log_sum = static_cast<T>(std::log(sum[l]));
      HEED_VECTORIZE
      for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - shift) - log_sum;
    } else {
      const T scale = static_cast<T>(sum[l] == 0 ? 0 : 1 / sum[l]);
      HEED_VECTORIZE
      for (int64_t i = 0; i < n; ++i) y[i] *= scale;
    }
  }
}

// The threshold is (s_k - 1) / k, with s_k the sum of the k largest x and k the most for which the k-th of
// them is above it. The largest are brought to the front by a heap, so that a sparse line costs little more
// than n.
template <class T>
void sparsemax_line(const T* x, T* y, int64_t n) {
  if (std::any_of(x, x + n, [](T v) { return !(v < std::numeric_limits<T>::infinity()); })) {
    std::fill_n(y, n, std::numeric_limits<T>::quiet_NaN());
    return;
  }
  std::copy_n(x, n, y);
  std::make_heap(y, y + n);
  const T most = n == 0 ? 0 : shift_of(y[0]);
  double sum = 0, threshold = 0;
  for (int64_t k = 1; k <= n; ++k) {
    const double value = static_cast<double>(y[0]) - most;
    if (k > 1 && !(value > threshold)) break;
    sum += value;
    threshold = (sum - 1) / static_cast<double>(k);
    std::pop_heap(y, y + (n - k + 1));
  }
  for (int64_t i = 0; i < n; ++i)
    y[i] = static_cast<T>(std::max(0.0, static_cast<double>(x[i]) - most - threshold));
}

// Calls f(lines of a, of b, of the result, how many, n) for groups of the lines along dim, which is made the
// last for that; b may be undefined.
template <class F>
Tensor by_lines(const Tensor& strided_a, const Tensor& strided_b, int64_t dim, const F& f) {
  const Tensor a = contiguous(last_swapped_with(strided_a, dim));
  const Tensor b = strided_b.defined() ? contiguous(last_swapped_with(strided_b, dim)) : a;
  const Tensor y = Tensor::empty(a.shape(), a.dtype());
  const int64_t n = a.dim() == 0 ? 1 : a.size(-1), lines = n == 0 ? 0 : a.numel() / n;
  const int64_t group = std::clamp<int64_t>(kRun / std::max<int64_t>(1, n), 1, kGroup);
  visit_floating(a.dtype(), [&]<class T>(Type<T>) {
    each_row((lines + group - 1) / group, group * n,
             [&, from_a = a.data<T>(), from_b = b.data<T>(), to = y.mutable_data<T>()](int64_t i) {
               const int64_t l = i * group, at = l * n;
               f(from_a + at, from_b + at, to + at, std::min(group, lines - l), n);
             });
  });
  return contiguous(last_swapped_with(y, dim));
}

// The same, line by line.
template <class F>
auto each_line(const F& f) {
  return [f](auto* a, auto* b, auto* y, int64_t lines, int64_t n) {
    for (; lines > 0; --lines, a += n, b += n, y += n) f(a, b, y, n);
  };
}

Tensor forward(Form form, const Tensor& x, int64_t dim) {
  return by_lines(x, {}, dim, [form](auto* x_, auto*, auto* y, int64_t lines, int64_t n) {
    softmax_lines(form, x_, y, lines, n);
  });
}

}  // namespace

Tensor softmax(const Tensor& x, int64_t dim) { return forward(Form::plain, x, dim); }
Tensor masked_softmax(const Tensor& x, int64_t dim) { return forward(Form::masked, x, dim); }
Tensor log_softmax(const Tensor& x, int64_t dim) { return forward(Form::log, x, dim); }
Tensor sparsemax(const Tensor& x, int64_t dim) {
  return by_lines(x, {}, dim,
                  each_line([](auto* x_, auto*, auto* y, int64_t n) { sparsemax_line(x_, y, n); }));
}

Tensor softmax_backward(const Tensor& g, const Tensor& y, int64_t dim) {
  return by_lines(g, y, dim, each_line([]<class T>(const T* g_, const T* y_, T* dx, int64_t n) {
                    const T dot = static_cast<T>(sum_line(n, times, g_, y_));
                    HEED_VECTORIZE
                    for (int64_t i = 0; i < n; ++i) dx[i] = y_[i] * (g_[i] - dot);
                  }));
}

Tensor log_softmax_backward(const Tensor& g, const Tensor& y, int64_t dim) {
  return by_lines(g, y, dim, each_line([]<class T>(const T* g_, const T* y_, T* dx, int64_t n) {
                    const T sum = static_cast<T>(sum_line(n, itself, g_));
                    HEED_VECTORIZE
                    for (int64_t i = 0; i < n; ++i) dx[i] = g_[i] - math::exp_below(y_[i]) * sum;
                  }));
}

}  // namespace heed::kernel
