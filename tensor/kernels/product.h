#pragma once

#include "tensor/kernels/loop.h"

namespace heed::kernel {

/// out [n, m] = start + alpha a [n, k] b [k, m] in float32, in the calling thread. a and b have any steps;
/// the col_step of out and start is 1. `start` may be out itself, or Matrix(), which stands for zeros.
///
///   out_ij = ((start_ij + a_i0 (alpha b_0j)) + a_i1 (alpha b_1j)) + ...
///
/// Each step is one fused multiplication and addition. The bits of a result therefore depend on its row of a,
/// its column of b and k alone: not on the other rows, on threads, or on the size of a vector.
void sgemm(int64_t n, int64_t m, int64_t k, float alpha, Matrix<const float> a, Matrix<const float> b,
           Matrix<const float> start, Matrix<float> out);

/// Rows up to which b is read in place even for several products, unless packs() says otherwise.
inline constexpr int64_t kInPlaceRows = 30;

/// Whether sgemm() packs b [k, m] for n > 1 rows, since reading it in place would cost more or cannot be.
bool packs(int64_t n, int64_t m, int64_t k, float alpha, const Matrix<const float>& b);

/// b [k, m], packed as sgemm() reads it, for several products.
class PackedMatrix {
 public:
  /// Keeps alpha b.
  void pack(int64_t k, int64_t m, float alpha, Matrix<const float> b);
  /// sgemm() with the first k rows and m columns of b. May write to further columns of out, up to those of b.
  void multiply(int64_t n, int64_t m, int64_t k, Matrix<const float> a, Matrix<const float> start,
                Matrix<float> out) const;

 private:
  Tensor panels_;
  int64_t rows_ = 0, columns_ = 0;
};

/// The products a_i [1, k] b_i [k, 1] as sgemm() computes them, kDots at once: the chain of sums of one alone
/// would wait for its own results.
inline constexpr int64_t kDots = 8;
using Starts = std::array<const float*, kDots>;
std::array<float, kDots> dots(int64_t k, float alpha, const Starts& a, int64_t a_step, const Starts& b,
                              int64_t b_step);

}  // namespace heed::kernel
