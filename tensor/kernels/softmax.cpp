#include "tensor/kernels/softmax.h"

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/lines.h"

namespace heed::kernel {
namespace {

enum class Form { plain, masked, log };

// One line of n neighbouring values: y_i = exp(x_i - m) / s, or its logarithm, with m the largest x and
// s = sum_i exp(x_i - m), which lies between 1 and n. A line of -inf alone gives NaN, masked 0.
template <class T>
void softmax_line(Form form, const T* x, T* y, int64_t n) {
  T most = max_line(n, minus_infinity<T>, x);
  if (form == Form::masked) most = shift_of(most);
  const double sum = exp_line(n, x, most, y);
  if (form == Form::log) {
    const T log_sum = static_cast<T>(std::log(sum));
    HEED_VECTORIZE
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - most) - log_sum;
  } else {
    const T scale = static_cast<T>(sum == 0 ? 0 : 1 / sum);
    HEED_VECTORIZE
    for (int64_t i = 0; i < n; ++i) y[i] *= scale;
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

// Calls f(line of a, line of b, line of the result, n) for every line along dim, which is made the last for
// that; b may be undefined.
template <class F>
Tensor by_lines(const Tensor& strided_a, const Tensor& strided_b, int64_t dim, const F& f) {
  const Tensor a = contiguous(last_swapped_with(strided_a, dim));
  const Tensor b = strided_b.defined() ? contiguous(last_swapped_with(strided_b, dim)) : a;
  const Tensor y = Tensor::empty(a.shape(), a.dtype());
  const int64_t n = a.dim() == 0 ? 1 : a.size(-1);
  visit_floating(a.dtype(), [&]<class T>(Type<T>) {
    each_row(n == 0 ? 0 : a.numel() / n, n,
             [&, from_a = a.data<T>(), from_b = b.data<T>(), to = y.mutable_data<T>()](int64_t r) {
               f(from_a + r * n, from_b + r * n, to + r * n, n);
             });
  });
  return contiguous(last_swapped_with(y, dim));
}

Tensor forward(Form form, const Tensor& x, int64_t dim) {
  return by_lines(x, {}, dim, [form](auto* x_, auto*, auto* y, int64_t n) { softmax_line(form, x_, y, n); });
}

}  // namespace

Tensor softmax(const Tensor& x, int64_t dim) { return forward(Form::plain, x, dim); }
Tensor masked_softmax(const Tensor& x, int64_t dim) { return forward(Form::masked, x, dim); }
Tensor log_softmax(const Tensor& x, int64_t dim) { return forward(Form::log, x, dim); }
Tensor sparsemax(const Tensor& x, int64_t dim) {
  return by_lines(x, {}, dim, [](auto* x_, auto*, auto* y, int64_t n) { sparsemax_line(x_, y, n); });
}

Tensor softmax_backward(const Tensor& g, const Tensor& y, int64_t dim) {
  return by_lines(g, y, dim, []<class T>(const T* g_, const T* y_, T* dx, int64_t n) {
    const T dot = static_cast<T>(sum_line(n, times, g_, y_));
    HEED_VECTORIZE
    for (int64_t i = 0; i < n; ++i) dx[i] = y_[i] * (g_[i] - dot);
  });
}

Tensor log_softmax_backward(const Tensor& g, const Tensor& y, int64_t dim) {
  return by_lines(g, y, dim, []<class T>(const T* g_, const T* y_, T* dx, int64_t n) {
    const T sum = static_cast<T>(sum_line(n, itself, g_));
    HEED_VECTORIZE
    for (int64_t i = 0; i < n; ++i) dx[i] = g_[i] - math::exp(y_[i]) * sum;
  });
}

}  // namespace heed::kernel
