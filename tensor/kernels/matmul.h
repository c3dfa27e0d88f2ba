#pragma once

#include "tensor/tensor.h"

namespace heed::kernel {

/// start + alpha a b: products of matrices, the last two dimensions. Any strides, one floating dtype.
///
///   a        [..., n, k]
///   b        [..., k, m]    leading dimensions broadcast against a's
///   start    broadcasts to the result; zero when undefined
///   returns  [..., n, m]
Tensor matmul(const Tensor& a, const Tensor& b, const Tensor& start = {}, double alpha = 1);

/// x [..., k] as a matrix [N, k] with all leading dimensions in one; a view where the strides allow it.
Tensor as_rows(const Tensor& x);

/// x itself if BLAS can read its matrices, else a copy, in which a matrix that is repeated stands once.
Tensor for_blas(const Tensor& x);

/// The steps of x along each leading dimension of `shape`, all but the last two, which it broadcasts to.
Strides lead_steps(const Tensor& x, const Shape& shape);

/// The step of x along its last dimension (1) or the last but one (2), 0 where x is repeated.
int64_t tail_step(const Tensor& x, int64_t from_end);

/// Floating-point operations of products in this thread so far, two for a multiplication and its addition.
int64_t& product_flops();

/// A matrix in memory: element (i, j) stands at data[i * row_step + j * col_step].
template <class T>
struct Matrix {
  T* data;
  int64_t row_step, col_step;

  T* at(int64_t i, int64_t j) const { return data + i * row_step + j * col_step; }
  Matrix from(int64_t i, int64_t j) const { return {at(i, j), row_step, col_step}; }
  Matrix transposed() const { return {data, col_step, row_step}; }
};

/// out [n, m] = alpha a [n, k] b [k, m] + beta out, by one thread; with beta = 0 out need not be set.
/// The sizes fit in 31 bits, out.col_step is 1, and a and b pass is_dense(): the caller sees to it.
template <class T>
void multiply(int64_t n, int64_t m, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b, T beta,
              Matrix<T> out);

/// True when one of the steps is 1 and the other jumps over whole rows or columns: what BLAS can read.
bool is_dense(int64_t rows, int64_t cols, int64_t row_step, int64_t col_step);

}  // namespace heed::kernel
