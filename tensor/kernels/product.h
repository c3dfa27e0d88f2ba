#pragma once

#include "tensor/kernels/loop.h"

namespace heed::kernel {

/// out [n, m] = start + alpha a [n, k] b [k, m] in the calling thread, for float and double. a and b have any
/// steps; the col_step of out and start is 1. `start` may be out itself, or Matrix(), which stands for zeros.
///
///   out_ij = ((start_ij + a_i0 (alpha b_0j)) + a_i1 (alpha b_1j)) + ...
///
/// Each step is one fused multiplication and addition where the processor has that. The bits of a result
/// therefore depend on its row of a, its column of b and k alone: not on the other rows, on threads, or on
/// the size of a vector.
template <class T>
void gemm(int64_t n, int64_t m, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b,
          Matrix<const T> start, Matrix<T> out);

/// gemm() for a few rows of a. Row i of b begins at b[b_rows[i]] and is read in place, up to a vector past
/// its end.
template <class T>
void gemm_lines(int64_t n, int64_t m, int64_t k, Matrix<const T> a, const T* b, const int64_t* b_rows,
                Matrix<const T> start, Matrix<T> out);

/// Whether a step is one fused multiplication and addition, rounded once.
bool gemm_fuses();

/// Rows up to which b is read in place even for several products, unless PackedMatrix::pays().
inline constexpr int64_t kInPlaceRows = 30;

/// The numbers from begin to end - 1.
struct Range {
  int64_t begin, end;
  bool operator==(const Range&) const = default;
};

/// A matrix whose element (i, j) is data[rows[i] + columns[j]] if j is in inside[i / line], and 0 elsewhere:
/// `line` rows after each other have one range.
template <class T>
struct Gathered {
  const T* data;
  const int64_t *rows, *columns;
  const Range* inside;
  int64_t line;
};

/// b [k, m], packed as gemm() reads it, for several products.
template <class T>
class PackedMatrix {
 public:
  /// Whether gemm() packs b for n > 1 rows, since reading it in place would cost more or cannot be.
  static bool pays(int64_t n, int64_t m, int64_t k, T alpha, const Matrix<const T>& b);
  /// Keeps alpha b, of which row p becomes row places[p], if these are given.
  void pack(int64_t k, int64_t m, T alpha, Matrix<const T> b, const int64_t* places = nullptr);
  /// gemm() with the first k rows and m columns of b. May write to further columns of out, up to those of b.
  void multiply(int64_t n, int64_t m, int64_t k, Matrix<const T> a, Matrix<const T> start,
                Matrix<T> out) const;
  /// gemm() with all of b.
  void multiply(int64_t n, const Gathered<T>& a, Matrix<const T> start, Matrix<T> out) const;

 private:
  Tensor panels_;
  int64_t rows_ = 0, columns_ = 0;
};

/// The products a_i [1, k] b_i [k, 1] as gemm() computes them, kDots at once: the chain of sums of one alone
/// would wait for its own results.
inline constexpr int64_t kDots = 8;
template <class T>
using Starts = std::array<const T*, kDots>;
template <class T>
std::array<T, kDots> dots(int64_t k, T alpha, const Starts<T>& a, int64_t a_step, const Starts<T>& b,
                          int64_t b_step);

}  // namespace heed::kernel
