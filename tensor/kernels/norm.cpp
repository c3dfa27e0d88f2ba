#include "tensor/kernels/norm.h"

#include <emmintrin.h>

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/outer_inner.h"
#include "tensor/kernels/reduce.h"

namespace heed::kernel {
namespace {

// x, or a `value` for each of the n where it is undefined.
Tensor given_or(double value, const Tensor& x, int64_t n, DType dtype) {
  return x.defined() ? contiguous(x) : full({n}, value, dtype);
}

template <class F, class T, class... X>
T average(int64_t n, const F& f, const T* first, const X*... more) {
  return static_cast<T>(sum_line(n, f, first, more...) / static_cast<double>(n));
}

// Gradients of this size leave the caches before they are read: they are written past them, row by row, while
// the next rows of what they are made of come in. Of 4096 rows of 1024 that takes a sixth off forward and
// backward.
constexpr int64_t kPastCaches = 8 << 20;

template <class T>
void fetch_line(int64_t n, const T* x) {
  for (int64_t i = 0; i < n; i += 64 / static_cast<int64_t>(sizeof(T))) __builtin_prefetch(x + i);
}

// to = from, for whole lines of 16 bytes
template <class T>
void write_past_caches(int64_t n, const T* from, T* to) {
  for (int64_t i = 0; i < n; i += 16 / static_cast<int64_t>(sizeof(T)))
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
}

}  // namespace

NormResult norm(Centre centre, const Tensor& strided, int64_t n, const Tensor& strided_weight,
                const Tensor& strided_bias, double eps) {
  const Tensor x = contiguous(strided);
  const Tensor weight = given_or(1, strided_weight, n, x.dtype());
  const Tensor bias = given_or(0, strided_bias, n, x.dtype());
  const int64_t rows = n == 0 ? 0 : x.numel() / n;
  NormResult out{Tensor::empty(x.shape(), x.dtype()), {}, Tensor::empty({rows}, x.dtype())};
  if (centre == Centre::mean) out.mean = Tensor::empty({rows}, x.dtype());
  visit_floating(x.dtype(), [&]<class T>(Type<T>) {
    const T *in = x.data<T>(), *w = weight.data<T>(), *b = bias.data<T>();
    T *y = out.y.mutable_data<T>(), *scales = out.scale.mutable_data<T>();
    T* means = centre == Centre::mean ? out.mean.mutable_data<T>() : nullptr;
    each_row(rows, n, [=](int64_t r) {
      const T* x_row = in + r * n;
      T* y_row = y + r * n;
      const T mean = means ? means[r] = average(n, itself, x_row) : T(0);
      const auto square = [=](auto v) { return (v - mean) * (v - mean); };
      const T variance = average(n, square, x_row);
      const T scale = scales[r] = static_cast<T>(1 / std::sqrt(static_cast<double>(variance) + eps));
      HEED_VECTORIZE
      for (int64_t i = 0; i < n; ++i) y_row[i] = (x_row[i] - mean) * scale * w[i] + b[i];
    });
  });
  return out;
}

// With h = g weight:
//
//   dx       scale (h - mean(h) - xhat mean(h xhat)), without mean(h) where nothing is centred
//   dweight  sum over rows of g xhat
//   dbias    sum over rows of g
NormGradients norm_backward(const Tensor& strided_g, const Tensor& strided, int64_t n,
                            const Tensor& strided_weight, const NormResult& forward) {
  const Tensor g = contiguous(strided_g), x = contiguous(strided);
  const Tensor weight = given_or(1, strided_weight, n, x.dtype());
  const int64_t rows = n == 0 ? 0 : x.numel() / n;
  // Rows that share one partial sum of the gradients of weight and bias: see Note [Same bits] in
  // tensor/parallel.h.
  const int64_t at_once = std::max<int64_t>(64, rows_per_block(n));
  const int64_t blocks = (rows + at_once - 1) / at_once;
  const Tensor dx = Tensor::empty(x.shape(), x.dtype());
  const Tensor dweights = Tensor::empty({blocks, n}, x.dtype());
  const Tensor dbiases = Tensor::empty({blocks, n}, x.dtype());
  visit_floating(x.dtype(), [&]<class T>(Type<T>) {
    const T *in = x.data<T>(), *incoming = g.data<T>(), *w = weight.data<T>();
    const T* scales = forward.scale.data<T>();
    const T* means = forward.mean.defined() ? forward.mean.data<T>() : nullptr;
    T *out = dx.mutable_data<T>(), *dws = dweights.mutable_data<T>(), *dbs = dbiases.mutable_data<T>();
    const int64_t bytes = n * static_cast<int64_t>(sizeof(T));
    const bool passes = rows * bytes >= kPastCaches && bytes % 16 == 0;
    parallel_for(rows, at_once, [=](int64_t begin, int64_t end) {
      const Tensor one_row = Tensor::empty({passes ? n : 0}, dtype_of<T>);
      T *dw = dws + begin / at_once * n, *db = dbs + begin / at_once * n;
      std::fill_n(dw, n, T(0));
      std::fill_n(db, n, T(0));
      for (int64_t r = begin; r < end; ++r) {
        const T *g_row = incoming + r * n, *x_row = in + r * n;
        T* dx_row = passes ? one_row.mutable_data<T>() : out + r * n;
        const T mean = means ? means[r] : T(0), scale = scales[r];
        const auto xhat = [=](auto v) { return (v - mean) * scale; };
        const auto product = [=](auto g_, auto w_, auto v) { return g_ * w_ * xhat(v); };
        const T along = average(n, product, g_row, w, x_row);
        if (passes && r + 1 < end) {
          fetch_line(n, g_row + n);
          fetch_line(n, x_row + n);
        }
        const T offset = means ? average(n, times, g_row, w) : T(0);
        HEED_VECTORIZE
        for (int64_t i = 0; i < n; ++i) {
          const T h = xhat(x_row[i]);
          dx_row[i] = scale * (g_row[i] * w[i] - offset - h * along);
          dw[i] += g_row[i] * h;
          db[i] += g_row[i];
        }
        if (passes) write_past_caches(n, dx_row, out + r * n);
      }
      if (passes) _mm_sfence();
    });
  });
  return {dx, sum(dweights, {0}, false), sum(dbiases, {0}, false)};
}

}  // namespace heed::kernel
