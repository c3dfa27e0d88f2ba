#pragma once

#include <limits>

#include "tensor/kernels/loop.h"

/// Matrix products by OpenBLAS, where heed is built with it.
namespace heed::kernel {

#if defined(HEED_OPENBLAS)
inline constexpr bool kHasBlas = true;
#else
inline constexpr bool kHasBlas = false;
#endif

/// OpenBLAS counts in ints.
inline constexpr int64_t kMaxSize = std::numeric_limits<int32_t>::max();

/// Whether OpenBLAS can read the matrices of x: one step is 1 and the other is at least the length of a row
/// or column.
bool readable_by_blas(const Tensor& x);

/// out [n, m] = alpha a [n, k] b [k, m], plus out if `adds`, in the calling thread, for float and double. The
/// col_step of out is 1.
template <class T>
void blas_tile(int64_t n, int64_t m, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b, bool adds,
               Matrix<T> out);

/// "OpenBLAS 0.3.21 openmp SkylakeX": what runs here.
std::string blas_info();

}  // namespace heed::kernel
