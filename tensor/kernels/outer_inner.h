#pragma once

#include "tensor/kernels/loop.h"
#include "tensor/kernels/math.h"
#include "tensor/parallel.h"

/// Loops along one dimension, for kernels in which the elements of a line depend on each other.
namespace heed::kernel {

inline constexpr int64_t kWidth = 512;  // adjacent lines that are processed together
inline constexpr int64_t kRun = 2048;   // elements that are joined in their own type before it is widened

/// Rows of n elements in a thread's unit of work.
inline int64_t rows_per_block(int64_t n) { return std::max<int64_t>(1, kBlock / std::max<int64_t>(1, n)); }

/// Calls f(r) for each row r = 0, 1, ... of n elements. Threads share the rows.
void each_row(int64_t rows, int64_t n, const auto& f) {
  parallel_for(rows, rows_per_block(n), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) f(r);
  });
}

#if defined(__AVX512F__)
inline constexpr int64_t kVectorBytes = 64;
#elif defined(__AVX__)
inline constexpr int64_t kVectorBytes = 32;
#else
inline constexpr int64_t kVectorBytes = 16;
#endif

/// Whether a multiplication and an addition are one instruction with one rounding.
#if defined(__FMA__) || defined(__aarch64__)
inline constexpr bool kFuses = true;
#else
inline constexpr bool kFuses = false;
#endif

/// a b + c, rounded once where that is one instruction.
template <class T>
T multiply_add(T a, T b, T c) {
  if constexpr (kFuses) return std::fma(a, b, c);
  return a * b + c;
}

/// A vector register; +, *, < and ?: act on all of its elements at once.
template <class T, int64_t bytes = kVectorBytes>
struct Simd {
  static constexpr int64_t size = bytes / static_cast<int64_t>(sizeof(T));
  using Values [[gnu::vector_size(bytes)]] = T;
  // Values at any address. A copy by memcpy would make GCC move registers to memory and back.
  using Unaligned [[gnu::vector_size(bytes), gnu::aligned(alignof(T)), gnu::may_alias]] = T;
  static Values load(const T* x) { return *reinterpret_cast<const Unaligned*>(x); }
  static void store(T* x, const Values& values) { *reinterpret_cast<Unaligned*>(x) = values; }
};

/// Has the compiler put x, as it is, into a register. When g++ tunes for Zen 3, it reads memory in each use.
[[gnu::always_inline]] inline void keep_in_register([[maybe_unused]] auto& x) {
#if defined(__x86_64__)
  asm("" : "+v"(x));
#elif defined(__aarch64__)
  asm("" : "+w"(x));
#endif
}

// The lanes of x and y with these numbers, counted through both.
#if __has_builtin(__builtin_shufflevector)
#define HEED_SHUFFLE(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else  // g++ 11
#define HEED_SHUFFLE(x, y, ...) __builtin_shuffle(x, y, decltype((x) < (y)){__VA_ARGS__})
#endif

/// Exchanges the lanes of x that have bit S with the lanes of y that do not.
template <int S, class Values, int... L>
[[gnu::always_inline]] inline void exchange_lanes(Values& x, Values& y, std::integer_sequence<int, L...>) {
  constexpr int size = sizeof...(L);
  const Values first = HEED_SHUFFLE(x, y, (L & S ? size + (L ^ S) : L)...);
  y = HEED_SHUFFLE(x, y, (L & S ? size + L : L ^ S)...);
  x = first;
}

/// Transposes a square matrix of registers, in squares of half the size each time.
template <class T, int S = Simd<T>::size / 2>
[[gnu::always_inline]] inline void transpose_square(typename Simd<T>::Values (&v)[Simd<T>::size]) {
  constexpr int size = Simd<T>::size;
  HEED_UNROLL
  for (int i = 0; i < size; ++i)
    if (!(i & S)) exchange_lanes<S>(v[i], v[i | S], std::make_integer_sequence<int, size>());
  if constexpr (S > 1) transpose_square<T, S / 2>(v);
}

/// to [n, m] = from, where the columns of `from` and the rows of `to` are dense, in squares of registers. The
/// last squares overlap those before them.
template <class T>
void transpose_matrix(int64_t n, int64_t m, Matrix<const T> from, Matrix<T> to) {
  constexpr int64_t size = Simd<T>::size;
  if (n < size || m < size) {
    for (int64_t k = 0; k < n * m; ++k) *to.at(k / m, k % m) = *from.at(k / m, k % m);
    return;
  }
  for (int64_t row = 0; row < n; row += size)
    for (int64_t column = 0; column < m; column += size) {
      const int64_t i = std::min(row, n - size), j = std::min(column, m - size);
      typename Simd<T>::Values v[size];
      HEED_UNROLL
      for (int64_t k = 0; k < size; ++k) v[k] = Simd<T>::load(from.at(i, j + k));
      transpose_square<T>(v);
      HEED_UNROLL
      for (int64_t k = 0; k < size; ++k) Simd<T>::store(to.at(i + k, j), v[k]);
    }
}

/// 64 bytes of elements, in as many registers as that takes. A line is joined in these lanes, so that the
/// order does not depend on the size of a register.
template <class T, int64_t bytes = kVectorBytes>
struct Lanes {
  static constexpr int64_t size = 64 / static_cast<int64_t>(sizeof(T)), packs = 64 / bytes;
  typename Simd<T, bytes>::Values pack[packs];

  template <class F, class... X>
  static Lanes of(const F& f, const X*... x) {
    Lanes y;
    HEED_UNROLL
    for (int64_t p = 0; p < packs; ++p) y.pack[p] = f(Simd<X>::load(x + p * Simd<T>::size)...);
    return y;
  }
  void join(const Lanes& other, const auto& with) {
    HEED_UNROLL
    for (int64_t p = 0; p < packs; ++p) pack[p] = with(pack[p], other.pack[p]);
  }
  /// All lanes joined, halves first.
  T joined(const auto& with) {
    HEED_UNROLL
    for (int64_t half = packs / 2; half > 0; half /= 2)
      for (int64_t p = 0; p < half; ++p) pack[p] = with(pack[p], pack[p + half]);
    return joined<Simd<T>::size / 2>(pack[0], with, std::make_index_sequence<Simd<T>::size>{});
  }

 private:
  template <int64_t half, class Values, class Join, size_t... I>
  static T joined(const Values& a, const Join& with, std::index_sequence<I...> lanes) {
    if constexpr (half == 0)
      return a[0];
    else
      return joined<half / 2>(with(a, HEED_SHUFFLE(a, a, ((I + half) % sizeof...(I))...)), with, lanes);
  }
};

/// start, f(x[0]...), ..., f(x[n - 1]...) joined by an associative `join`. A compiler must not reorder sums
/// of floats by itself, so this is written in vectors: four times 64 bytes, to hide the latency of a sum. `f`
/// and `join` accept numbers as well as vectors. The order depends on n alone and not on the processor.
template <class T, class Join, class F, class... X>
T join_line(int64_t n, T start, const Join& join, const F& f, const X*... x) {
  constexpr int64_t size = Lanes<T>::size;
  int64_t i = 0;
  if (n >= size) {
    const auto at = [&](int64_t first) { return Lanes<T>::of(f, (x + first)...); };
    Lanes<T> a = at(0);
    i = size;
    if (n >= 4 * size) {
      Lanes<T> b = at(size), c = at(2 * size), d = at(3 * size);
      for (i = 4 * size; i + 4 * size <= n; i += 4 * size) {
        a.join(at(i), join);
        b.join(at(i + size), join);
        c.join(at(i + 2 * size), join);
        d.join(at(i + 3 * size), join);
      }
      a.join(b, join);
      c.join(d, join);
      a.join(c, join);
    }
    for (; i + size <= n; i += size) a.join(at(i), join);
    start = join(start, a.joined(join));
  }
  for (; i < n; ++i) {
    T next = f(x[i]...);
    // Rounded, since compilers differ in whether they would fuse a product with its sum.
    if constexpr (std::is_floating_point_v<T>) keep_in_register(next);
    start = join(start, next);
  }
  return start;
}

/// f(x[0]...) + ... + f(x[n - 1]...): each run in T, and the runs in double.
template <class F, class T, class... X>
double sum_line(int64_t n, const F& f, const T* first, const X*... more) {
  double total = 0;
  for (int64_t i = 0; i < n; i += kRun)
    total += join_line(std::min(kRun, n - i), T(0), std::plus<>(), f, first + i, (more + i)...);
  return total;
}

/// What a search for the largest element starts from, and for the smallest.
template <class T, class Limits = std::numeric_limits<T>>
inline constexpr T least = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
template <class T, class Limits = std::numeric_limits<T>>
inline constexpr T most = Limits::has_infinity ? Limits::infinity() : Limits::max();

template <class T>
inline constexpr T minus_infinity = -std::numeric_limits<T>::infinity();

/// max(start, x_0, ..., x_{n-1}). A NaN in x is ignored; a NaN in `start` is kept.
auto max_line(int64_t n, auto start, const auto* x) {
  const auto larger = [](auto a, auto b) { return b > a ? b : a; };
  return join_line(n, start, larger, std::identity(), x);
}

/// Subtracted from a line before exp to prevent overflow: its maximum, or 0 where exp(-inf + inf) would be
/// NaN.
auto shift_of(auto max) { return max == minus_infinity<decltype(max)> ? 0 : max; }

/// y_i = exp(x_i - shift), where y may be x. Returns the sum of the y_i.
double exp_line(int64_t n, const auto* x, auto shift, auto* y) {
  HEED_VECTORIZE
  for (int64_t i = 0; i < n; ++i) y[i] = math::exp_below(x[i] - shift);
  return sum_line(n, std::identity(), y);
}

/// The dimensions that a reduction along `dim` reduces: a scalar has none.
inline Shape line_dims(const Tensor& x, int64_t dim) { return x.dim() == 0 ? Shape{} : Shape{dim}; }

/// x with `dim` and the last dimension exchanged.
inline Tensor last_swapped_with(const Tensor& x, int64_t dim) {
  if (dim >= x.dim() - 1) return x;
  Shape shape = x.shape();
  Strides strides = x.strides();
  std::swap(shape[dim], shape[shape.dim() - 1]);
  std::swap(strides[dim], strides[shape.dim() - 1]);
  return TensorImpl::view(x, shape, strides);
}

/// A contiguous tensor as [outer, n, inner] around one dimension.
struct OuterInner {
  int64_t outer = 1, n = 1, inner = 1;

  OuterInner(const Shape& shape, int64_t dim) {
    for (int64_t d = 0; d < shape.dim(); ++d) (d < dim ? outer : d == dim ? n : inner) *= shape[d];
  }
  /// Calls f(first, line, width) for groups of `width` <= kWidth adjacent lines: element i of the group's
  /// line l is at first + i * inner + l, and the lines are number line, line + 1, ... of all.
  void each(const auto& f) const {
    if (outer == 0 || inner == 0) return;
    const int64_t groups = ceil_div(inner, kWidth);
    each_row(outer * groups, n * std::min(inner, kWidth), [&](int64_t group) {
      const int64_t block = group / groups, start = group % groups * kWidth;
      f(block * n * inner + start, block * inner + start, std::min(kWidth, inner - start));
    });
  }
};

}  // namespace heed::kernel
