#pragma once

#include "tensor/kernels/product.h"

namespace heed::kernel {

/// start + alpha a b: products of matrices, which are the last two dimensions. Any strides, one floating
/// dtype.
///
///   a        [..., n, k]
///   b        [..., k, m]    leading dimensions broadcast against a's
///   start    broadcasts to the result; zero if undefined
///   returns  [..., n, m]
Tensor matmul(const Tensor& a, const Tensor& b, const Tensor& start = {}, double alpha = 1);

/// Floating-point operations of matrix products in this thread so far: two for a multiplication and its
/// addition.
int64_t& product_flops();

/// Whether products of this dtype are computed by heed's gemm(). The bits of a row are then the same alone
/// and among others, and for any strides of the operands. See Note [Whose products].
bool has_own_product(DType dtype);

// The parts of products, for other kernels.

/// A part of a matrix: `rows` rows from i on and `columns` columns from j on.
struct Tile {
  int64_t i, rows, j, columns;
};

/// All dimensions but the last two.
inline Shape leading(const Tensor& x) { return Shape(x.shape().data(), x.dim() - 2); }

/// [lead..., rows, columns]
inline Shape matrix_shape(Shape lead, int64_t rows, int64_t columns) {
  lead.push_back(rows);
  lead.push_back(columns);
  return lead;
}

/// The matrices of a tensor in row-major order of its leading dimensions. Those of an undefined tensor have
/// no data.
template <class T>
class Matrices {
 public:
  Matrices() = default;  ///< without data
  /// x broadcast to [lead..., rows, columns].
  Matrices(const Tensor& x, const Shape& lead, int64_t rows, int64_t columns) {
    if (!x.defined()) return;
    const auto step = [&x](int64_t from_end, int64_t size) {
      const int64_t d = x.dim() - from_end;
      return d < 0 || x.shape()[d] != size ? 0 : x.strides()[d];
    };
    for (int64_t d = 0; d < lead.dim(); ++d) lead_.add(lead[d], step(lead.dim() + 2 - d, lead[d]));
    first_ = {detail::first_of<T>(x), step(2, rows), step(1, columns)};
  }
  /// x as it is.
  explicit Matrices(const Tensor& x) : Matrices(x, leading(x), x.size(-2), x.size(-1)) {}

  Matrix<T> operator[](int64_t index) const {
    return {first_.data + lead_.at(index), first_.row_step, first_.col_step};
  }

 private:
  CollapsedDims lead_;
  Matrix<T> first_;
};

/// x itself if gemm_tile() can read its matrices, else a copy in which a repeated matrix appears once.
Tensor for_products(const Tensor& x);

/// out [n, m] = start + alpha a [n, k] b [k, m] in the calling thread. `start` has any steps and may be out
/// itself, or Matrix(), which stands for zeros. The caller guarantees that a and b are matrices of
/// for_products(), transposed or not, that out.col_step is 1, and that the sizes fit in 31 bits.
template <class T>
void gemm_tile(int64_t n, int64_t m, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b,
               Matrix<const T> start, Matrix<T> out);

/// A matrix b [k, m] of several products, which gemm_tile() would pack for each.
template <class T>
class ReusedMatrix {
 public:
  /// Takes alpha b, for products of so many rows together. b must stay where it is.
  void set(int64_t rows, int64_t k, int64_t m, T alpha, Matrix<const T> b);
  /// gemm_tile() with the first k rows and m columns of b. May write to further columns of out, up to those
  /// of b.
  void multiply(int64_t n, int64_t m, int64_t k, Matrix<const T> a, Matrix<const T> start,
                Matrix<T> out) const;

 private:
  T alpha_ = 1;
  Matrix<const T> b_;
  PackedMatrix<T> packed_;
  bool is_packed_ = false;
};

/// How many products of this many multiplications make up a thread's unit of work: enough to outweigh the
/// cost of waking the thread.
inline int64_t products_per_block(double multiplications) {
  return static_cast<int64_t>(1 + (1 << 20) / std::max(multiplications, 1.0));
}

}  // namespace heed::kernel
