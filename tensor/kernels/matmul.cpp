#include "tensor/kernels/matmul.h"

#include <cstdlib>

#include "tensor/kernels/blas.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/outer_inner.h"
#include "tensor/kernels/plain.h"

namespace heed::kernel {
namespace {

// Note [Whose products]
//
// Products are computed by heed's own gemm(). If heed is built with OpenBLAS, that computes them at a level
// without fused multiply-adds, and everywhere if HEED_PRODUCTS=openblas is set in the environment. Where a
// shape class of OpenBLAS is faster, the bits of gemm(), which do not depend on the other rows, are worth
// more.
//
// bench/products by one thread, of OpenBLAS 0.3.21 as it runs there; a ratio above 1 means that gemm() is
// faster:
//
//   processor                 OpenBLAS's kernels    51 products of layers     heads       one row, transposed
//   Zen 4 (32 KiB, 1 MiB)     AVX-512 (Cooperlake)  1.08 (1.00 to 1.2)        0.84 to 1.5           0.5
//   the same, AVX2 alone      Haswell               1.00 (0.89 to 1.1)        1.1 to 1.4            0.3
//   Zen 3 (32 KiB, 512 KiB)   Zen (AVX2)            1.05 (0.90 to 1.2)        1.6 to 2.1     0.3 to 0.5
//   the same, float64         Zen (AVX2)            1.04 (0.86 to 1.2)        1.1 to 1.6            0.4
//
// Zen 5 and Xeons with AVX-512 are yet to be measured with these tiles.

// How the matrices [n, m] of a result are cut into tiles for the threads, along the longer side. Each tile
// packs one operand again. Therefore the tiles are as few as possible, of at most 1024 rows (or columns, if
// there are more of them), the same number for each thread. What OpenBLAS computes is cut for two threads
// regardless of their number, since there the bits depend on it: see Note [Same bits] in tensor/parallel.h.
//
//                    m
//              +-----------+
//            k |     b     |
//        k     +-----------+
//     +-----+  +-----------+
//     |  a  |  |  tile 0   |    if n >= m, rows of a and of the result are cut,
//   n +- - -+  +- - - - - -+    else columns of b and of the result
//     |     |  |  tile 1   |
//     +-----+  +-----------+
//
// Returns the length of a tile along the longer side; `work` is the number of multiplications in a matrix.
int64_t tile_length(int64_t longer, double work, int64_t threads) {
  const int64_t least = products_per_block(work / static_cast<double>(longer) / 2);
  const int64_t wanted = ceil_div(ceil_div(longer, 1024), threads) * threads;
  return ceil_div(std::max(least, ceil_div(longer, wanted)), 64) * 64;
}

// Each product is that of a row and a column: several are computed at once.
template <class T>
void dot_batched(const Tensor& out, const Matrices<const T>& a, const Matrices<const T>& b, int64_t k,
                 T alpha) {
  T* y = out.mutable_data<T>();
  parallel_for(out.numel(), products_per_block(static_cast<double>(k)), [&](int64_t begin, int64_t end) {
    for (int64_t first = begin; first < end; first += kDots) {
      Starts<T> left, right;
      for (int64_t i = 0; i < kDots; ++i) {
        const int64_t matrix = std::min(first + i, end - 1);
        left[static_cast<size_t>(i)] = a[matrix].data;
        right[static_cast<size_t>(i)] = b[matrix].data;
      }
      const auto sums = dots(k, alpha, left, a[0].col_step, right, b[0].row_step);
      std::copy_n(sums.data(), std::min(kDots, end - first), y + first);
    }
  });
}

// out [..., n, m] = start + alpha a [..., n, k] b [..., k, m]; all broadcast to the leading dimensions of out
template <class T>
void matmul_batched(const Tensor& out, const Tensor& a, const Tensor& b, const Tensor& start, T alpha) {
  const int64_t n = out.size(-2), m = out.size(-1), k = a.size(-1);
  const Shape lead = leading(out);
  const Matrices<const T> all_a(a, lead, n, k), all_b(b, lead, k, m), all_start(start, lead, n, m);
  const Matrices<T> all_out(out);
  const bool own = has_own_product(dtype_of<T>);
  if (own && n == 1 && m == 1 && !start.defined()) return dot_batched(out, all_a, all_b, k, alpha);
  const int64_t longer = std::max(n, m);
  const double work = static_cast<double>(n) * static_cast<double>(m) * static_cast<double>(k);
  const int64_t length = tile_length(longer, work, own ? num_threads() : 2);
  const int64_t tiles = ceil_div(longer, length);
  const int64_t block = products_per_block(work / static_cast<double>(tiles));
  parallel_for(out.numel() / (n * m) * tiles, block, [&](int64_t begin, int64_t end) {
    for (int64_t index = begin; index < end; ++index) {
      const int64_t matrix = index / tiles, first = index % tiles * length;
      const int64_t size = std::min(length, longer - first);
      const Tile t = n >= m ? Tile{first, size, 0, m} : Tile{0, n, first, size};
      gemm_tile<T>(t.rows, t.columns, k, alpha, all_a[matrix].block(t.i, 0), all_b[matrix].block(0, t.j),
                   all_start[matrix].block(t.i, t.j), all_out[matrix].block(t.i, t.j));
    }
  });
}

// x [..., k] as a matrix [N, k] with all leading dimensions merged: a view if the strides allow it.
Tensor as_rows(const Tensor& x) {
  const int64_t last = x.dim() - 1, k = x.shape()[last];
  const CollapsedDims rows(x.shape(), x.strides(), last);
  if (rows.sizes.dim() > 1) return as_rows(clone(x));
  return TensorImpl::view(x, {rows.inner_size(), k},
                          {rows.sizes.empty() ? k : rows.inner_step(), x.strides()[last]});
}

}  // namespace

bool has_own_product(DType dtype) {
  static const char* const chosen = std::getenv("HEED_PRODUCTS");
  static const bool by_blas = kHasBlas && (!kFuses || (chosen && std::string_view(chosen) == "openblas"));
  return is_floating(dtype) && !by_blas;
}

Tensor for_products(const Tensor& x) {
  if constexpr (!kHasBlas) return x;
  if (has_own_product(x.dtype()) || readable_by_blas(x)) return x;
  Shape shape = x.shape();
  for (int64_t d = 0; d < x.dim() - 2; ++d)
    if (x.strides()[d] == 0 && shape[d] > 0) shape[d] = 1;
  return clone(TensorImpl::view(x, shape, x.strides()));
}

int64_t& product_flops() {
  static thread_local constinit int64_t flops = 0;
  return flops;
}

template <class T>
void gemm_tile(int64_t n, int64_t m, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b,
               Matrix<const T> start, Matrix<T> out) {
  if (n == 0 || m == 0) return;
  const bool own = has_own_product(dtype_of<T>);
  if (own && (!start.data || start.col_step == 1)) return gemm<T>(n, m, k, alpha, a, b, start, out);
  const bool adds = start.data != nullptr;
  if (adds ? start.data != out.data : k == 0)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < m; ++j) *out.at(i, j) = adds ? *start.at(i, j) : T(0);
  if (k == 0) return;
  if (own) return gemm<T>(n, m, k, alpha, a, b, out, out);
  if constexpr (kHasBlas) blas_tile<T>(n, m, k, alpha, a, b, adds, out);
}

template decltype(gemm_tile<float>) gemm_tile<float>;
template decltype(gemm_tile<double>) gemm_tile<double>;

template <class T>
void ReusedMatrix<T>::set(int64_t rows, int64_t k, int64_t m, T alpha, Matrix<const T> b) {
  alpha_ = alpha;
  b_ = b;
  // For several products, packing pays from fewer rows on than for one.
  const bool packs = rows > kInPlaceRows || PackedMatrix<T>::pays(rows, m, k, alpha, b);
  is_packed_ = has_own_product(dtype_of<T>) && rows > 1 && k > 0 && m > 0 && packs;
  if (is_packed_) packed_.pack(k, m, alpha, b);
}

template <class T>
void ReusedMatrix<T>::multiply(int64_t n, int64_t m, int64_t k, Matrix<const T> a, Matrix<const T> start,
                               Matrix<T> out) const {
  if (is_packed_) return packed_.multiply(n, m, k, a, start, out);
  gemm_tile<T>(n, m, k, alpha_, a, b_, start, out);
}

template class ReusedMatrix<float>;
template class ReusedMatrix<double>;

Tensor matmul(const Tensor& a, const Tensor& b, const Tensor& start, double alpha) {
  const int64_t n = a.size(-2), k = a.size(-1), m = b.size(-1);
  Tensor out = Tensor::empty(matrix_shape(broadcast_shapes(leading(a), leading(b)), n, m), a.dtype());
  if (out.numel() == 0) return out;
  check(std::max({n, k, m}) <= kMaxSize, "a is ", a.shape(), ", b is ", b.shape(),
        "; BLAS counts rows and columns in 31 bits, cut the operands into pieces");
  product_flops() += 2 * out.numel() * k;
  if (reference_mode()) return plain::matmul(a, b, start, alpha);

  // One matrix b for all of a: the rows of a make one long product.
  const bool one_b =
      b.dim() == 2 && a.dim() > 2 && (!start.defined() || start.dim() <= 1) && out.numel() / m <= kMaxSize;
  const Tensor left = for_products(one_b ? as_rows(a) : a), right = for_products(b);
  const Tensor target = one_b ? as_rows(out) : out;
  visit_floating(a.dtype(), [&]<class T>(Type<T>) {
    matmul_batched<T>(target, left, right, start, static_cast<T>(alpha));
  });
  return out;
}

}  // namespace heed::kernel
