#pragma once

#include <algorithm>
#include <cstdint>

#include "tensor/kernels/loop.h"
#include "tensor/parallel.h"
#include "tensor/shape.h"

/// Loops along one dimension, where the values of a line have to do with each other.
namespace heed::kernel {

inline constexpr int64_t kLanes = 32;   // values joined side by side, each lane on its own
inline constexpr int64_t kWidth = 512;  // neighbouring lines that are worked on together

namespace detail {
template <int64_t Half, class T, class Join>
void fold(T* lane, const Join& join) {
  if constexpr (Half > 0) {
    for (int64_t l = 0; l < Half; ++l) lane[l] = join(lane[l], lane[l + Half]);
    fold<Half / 2>(lane, join);
  }
}
}  // namespace detail

/// start, f(0), ..., f(n - 1) put together by an associative `join`; vector code, the same for equal n.
template <class T, class F, class Join>
T join_line(int64_t n, T start, const F& f, const Join& join) {
  int64_t i = 0;
  if (n >= kLanes) {
    T lane[kLanes];
    for (int64_t l = 0; l < kLanes; ++l) lane[l] = f(l);
    for (i = kLanes; i + kLanes <= n; i += kLanes)
      for (int64_t l = 0; l < kLanes; ++l) lane[l] = join(lane[l], f(i + l));
    detail::fold<kLanes / 2>(lane, join);
    start = join(start, lane[0]);
  }
  for (; i < n; ++i) start = join(start, f(i));
  return start;
}

/// f(0) + ... + f(n - 1), in the type of f over short runs and in double from run to run.
template <class F>
double sum_line(int64_t n, const F& f) {
  constexpr int64_t run = 64 * kLanes;
  using T = decltype(f(n));
  double total = 0;
  for (int64_t start = 0; start < n; start += run)
    total += join_line(
        std::min(run, n - start), T(0), [&](int64_t i) { return f(start + i); },
        [](T a, T b) { return a + b; });
  return total;
}

/// A contiguous tensor as [outer, n, inner] around one dimension.
struct Lines {
  int64_t outer = 1, n = 1, inner = 1;

  Lines(const Shape& shape, int64_t dim) {
    for (int64_t d = 0; d < shape.rank(); ++d) (d < dim ? outer : d == dim ? n : inner) *= shape[d];
  }
  /// Calls f(first, line, width) for stretches of `width` neighbouring lines, at most kWidth: element i of
  /// the stretch's line l stands at first + i * inner + l, and its lines are line, line + 1, ... of all.
  template <class F>
  void each(const F& f) const {
    if (outer == 0 || inner == 0) return;
    const int64_t chunks = (inner + kWidth - 1) / kWidth;
    const int64_t at_once = std::max<int64_t>(1, kBlock / std::max<int64_t>(1, n * std::min(inner, kWidth)));
    parallel_for(outer * chunks, at_once, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t start = task % chunks * kWidth;
        f(task / chunks * n * inner + start, task / chunks * inner + start, std::min(kWidth, inner - start));
      }
    });
  }
};

}  // namespace heed::kernel
