#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "tensor/kernels/outer_inner.h"
#include "tensor/tensor.h"

/// Gradients that are written past the caches, which they would leave before they are read.
namespace heed::kernel {

inline constexpr int64_t kPastCaches = 8 << 20;  // bytes of a result, from which on that is faster

/// to = from, past the caches if bytes are a multiple of 16.
template <class T>
void write_past_caches(int64_t n, const T* from, T* to) {
#if defined(__SSE2__)
  for (int64_t i = 0; i < n; i += 16 / static_cast<int64_t>(sizeof(T)))
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
#else
  std::copy_n(from, n, to);
#endif
}

/// Calls f(r, row, streams) for each row of the gradient [rows, n] at `out`, in blocks of `block` rows that
/// threads share. A large gradient is computed row by row in a buffer, and streamed from there.
template <class T, class F>
void each_gradient_row(int64_t rows, int64_t n, int64_t block, T* out, const F& f) {
  const int64_t bytes = n * static_cast<int64_t>(sizeof(T));
  const bool streams = rows * bytes >= kPastCaches && bytes % 16 == 0;
  parallel_for(rows, block, [=, &f](int64_t begin, int64_t end) {
    const Tensor buffer = Tensor::empty({streams ? n : 0}, dtype_of<T>);
    for (int64_t r = begin; r < end; ++r) {
      T* const row = streams ? buffer.mutable_data<T>() : out + r * n;
      f(r, row, streams && r + 1 < end);
      if (streams) write_past_caches(n, row, out + r * n);
    }
#if defined(__SSE2__)
    if (streams) _mm_sfence();
#endif
  });
}

}  // namespace heed::kernel
