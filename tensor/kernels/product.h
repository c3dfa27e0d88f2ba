#pragma once

#include <array>

#include "tensor/tensor.h"

namespace heed::kernel {

/// A matrix in memory: element (i, j) is data[i * row_step + j * col_step].
template <class T>
struct Matrix {
  T* data;
  int64_t row_step, col_step;

  T* at(int64_t i, int64_t j) const { return data + i * row_step + j * col_step; }
  Matrix from(int64_t i, int64_t j) const { return {at(i, j), row_step, col_step}; }
  Matrix transposed() const { return {data, col_step, row_step}; }
  operator Matrix<const T>() const
    requires(!std::is_const_v<T>)
  {
    return {data, row_step, col_step};
  }
};

/// out [n, m] = start + alpha a [n, k] b [k, m] in float32, by one thread. a and b have any steps,
/// out.col_step is 1, and so is start's; start may be out itself, or without data, which is 0.
///
///   out_ij = ((start_ij + a_i0 (alpha b_0j)) + a_i1 (alpha b_1j)) + ...
///
/// Each step is one fused multiplication and addition, so that the bits of a result depend on its row of a,
/// its column of b and k alone: not on the other rows, on threads, or on the width of a vector.
void product(int64_t n, int64_t m, int64_t k, float alpha, Matrix<const float> a, Matrix<const float> b,
             Matrix<const float> start, Matrix<float> out);

/// sums_i = product() of one row a_i [1, k] and one column b_i [k, 1], for kDots of them at once: the chain
/// of one alone would wait for itself.
inline constexpr int64_t kDots = 8;
using Starts = std::array<const float*, kDots>;
std::array<float, kDots> dots(int64_t k, float alpha, const Starts& a, int64_t a_step, const Starts& b,
                              int64_t b_step);

}  // namespace heed::kernel
