#include "tensor/kernels/softmax.h"

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/lines.h"
#include "tensor/kernels/math.h"

namespace heed::kernel {
namespace {

enum class Form { plain, masked, log };

// What is taken off before exp. A masked line of -inf alone stays at exp(-inf) = 0.
template <class T>
T shift_of(Form form, T most) {
  return form == Form::masked && most == -std::numeric_limits<T>::infinity() ? 0 : most;
}

template <class T>
T scale_of(double sum) {
  return static_cast<T>(sum == 0 ? 0 : 1 / sum);
}

// One line of n neighbouring values: y_i = exp(x_i - m) / s, or its logarithm, with m the largest x and
// s = sum_i exp(x_i - m), which lies between 1 and n. A line of -inf alone gives NaN, masked 0.
template <class T>
void softmax_line(Form form, const T* x, T* y, int64_t n) {
  const auto itself = [](auto v) { return v; };
  const T most = shift_of(form, join_line(
                                    n, -std::numeric_limits<T>::infinity(),
                                    [](auto a, auto b) { return b > a ? b : a; }, itself, x));
  HEED_VECTORIZE
  for (int64_t i = 0; i < n; ++i) y[i] = math::exp(x[i] - most);
  const double sum = sum_line(n, itself, y);
  if (form == Form::log) {
    const T log_sum = static_cast<T>(std::log(sum));
    HEED_VECTORIZE
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - most) - log_sum;
  } else {
    const T scale = scale_of<T>(sum);
    HEED_VECTORIZE
    for (int64_t i = 0; i < n; ++i) y[i] *= scale;
  }
}

template <class T>
void softmax_line_backward(Form form, const T* g, const T* y, T* dx, int64_t n) {
  if (form == Form::log) {
    const T sum = static_cast<T>(sum_line(
        n, [](auto g_) { return g_; }, g));
    HEED_VECTORIZE
    for (int64_t i = 0; i < n; ++i) dx[i] = g[i] - math::exp(y[i]) * sum;
  } else {
    const T dot = static_cast<T>(sum_line(
        n, [](auto g_, auto y_) { return g_ * y_; }, g, y));
    HEED_VECTORIZE
    for (int64_t i = 0; i < n; ++i) dx[i] = y[i] * (g[i] - dot);
  }
}

// The same for `width` lines side by side, whose values stand `step` apart: line by line in the inner loop.
template <class T>
void softmax_lines(Form form, const T* x, T* y, int64_t n, int64_t step, int64_t width) {
  T most[kWidth], shift[kWidth];
  double sum[kWidth];
  std::fill_n(most, width, -std::numeric_limits<T>::infinity());
  std::fill_n(sum, width, 0.0);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t l = 0; l < width; ++l) most[l] = x[i * step + l] > most[l] ? x[i * step + l] : most[l];
  for (int64_t l = 0; l < width; ++l) most[l] = shift_of(form, most[l]);
  for (int64_t i = 0; i < n; ++i) {
    HEED_VECTORIZE
    for (int64_t l = 0; l < width; ++l) y[i * step + l] = math::exp(x[i * step + l] - most[l]);
    for (int64_t l = 0; l < width; ++l) sum[l] += y[i * step + l];
  }
  for (int64_t l = 0; l < width; ++l)
    shift[l] = form == Form::log ? static_cast<T>(std::log(sum[l])) : scale_of<T>(sum[l]);
  for (int64_t i = 0; i < n; ++i) {
    HEED_VECTORIZE
    for (int64_t l = 0; l < width; ++l)
      y[i * step + l] =
          form == Form::log ? (x[i * step + l] - most[l]) - shift[l] : y[i * step + l] * shift[l];
  }
}

template <class T>
void softmax_lines_backward(Form form, const T* g, const T* y, T* dx, int64_t n, int64_t step,
                            int64_t width) {
  double sum[kWidth];
  T dot[kWidth];
  std::fill_n(sum, width, 0.0);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t l = 0; l < width; ++l)
      sum[l] += form == Form::log ? g[i * step + l] : g[i * step + l] * y[i * step + l];
  for (int64_t l = 0; l < width; ++l) dot[l] = static_cast<T>(sum[l]);
  for (int64_t at = 0; at < n * step; at += step) {
    HEED_VECTORIZE
    for (int64_t l = 0; l < width; ++l)
      dx[at + l] =
          form == Form::log ? g[at + l] - math::exp(y[at + l]) * dot[l] : y[at + l] * (g[at + l] - dot[l]);
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
  const T most = n == 0 ? 0 : shift_of(Form::masked, y[0]);
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

Tensor forward(Form form, const Tensor& strided, int64_t dim) {
  const Tensor x = contiguous(strided);
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  const Lines lines(x.shape(), dim);
  visit_floating(x.dtype(), [&]<class T>(Type<T>) {
    lines.each([&, in = x.data<T>(), out = y.mutable_data<T>()](int64_t first, int64_t, int64_t width) {
      if (lines.inner == 1)
        softmax_line(form, in + first, out + first, lines.n);
      else
        softmax_lines(form, in + first, out + first, lines.n, lines.inner, width);
    });
  });
  return y;
}

Tensor backward(Form form, const Tensor& strided_g, const Tensor& strided_y, int64_t dim) {
  const Tensor g = contiguous(strided_g), y = contiguous(strided_y);
  Tensor dx = Tensor::empty(y.shape(), y.dtype());
  const Lines lines(y.shape(), dim);
  visit_floating(y.dtype(), [&]<class T>(Type<T>) {
    lines.each([&, from = g.data<T>(), at = y.data<T>(), to = dx.mutable_data<T>()](int64_t first, int64_t,
                                                                                    int64_t width) {
      if (lines.inner == 1)
        softmax_line_backward(form, from + first, at + first, to + first, lines.n);
      else
        softmax_lines_backward(form, from + first, at + first, to + first, lines.n, lines.inner, width);
    });
  });
  return dx;
}

}  // namespace

Tensor softmax(const Tensor& x, int64_t dim) { return forward(Form::plain, x, dim); }
Tensor masked_softmax(const Tensor& x, int64_t dim) { return forward(Form::masked, x, dim); }
Tensor log_softmax(const Tensor& x, int64_t dim) { return forward(Form::log, x, dim); }
Tensor softmax_backward(const Tensor& g, const Tensor& y, int64_t dim) {
  return backward(Form::plain, g, y, dim);
}
Tensor log_softmax_backward(const Tensor& g, const Tensor& y, int64_t dim) {
  return backward(Form::log, g, y, dim);
}

Tensor sparsemax(const Tensor& strided) {
  const Tensor x = contiguous(strided);
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  const Lines lines(x.shape(), std::max<int64_t>(x.dim() - 1, 0));
  visit_floating(x.dtype(), [&]<class T>(Type<T>) {
    lines.each([&, in = x.data<T>(), out = y.mutable_data<T>()](int64_t first, int64_t, int64_t) {
      sparsemax_line(in + first, out + first, lines.n);
    });
  });
  return y;
}

}  // namespace heed::kernel
