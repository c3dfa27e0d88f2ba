#include "tensor/kernels/matmul.h"

#include <cblas.h>
#include <omp.h>

#include <cstdlib>
#include <cstring>

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/outer_inner.h"

namespace heed::kernel {
namespace {

// Note [Whose products]
//
// float32 is heed's own product() wherever the processor that heed is built for has a fused multiplication
// and addition. Measured over 42 products of the workloads in bench/ beside OpenBLAS 0.3.21, geometric means:
// on a Zen 5 with AVX-512 1.7 of its Haswell kernels, to which this computer's environment holds it, and 1.0
// to 1.1 of its own AVX-512 ones; in a build for Haswell 1.2 (the least .95). float64, which learners use to
// check a gradient, and builds without that instruction are OpenBLAS's. So is everything with
// HEED_PRODUCTS=openblas in the environment.

template <class T>
bool takes_product() {
  return has_own_product(dtype_of<T>);
}

// OpenBLAS. It counts in ints and reads matrices one of whose steps is 1 while the other jumps over whole
// rows or columns.

constexpr int64_t kMaxOperands = std::numeric_limits<int32_t>::max();

bool readable(const Tensor& x) {
  const int64_t rows = x.size(-2), columns = x.size(-1);
  const int64_t row_step = x.strides()[x.dim() - 2], col_step = x.strides()[x.dim() - 1];
  const auto is_dense = [](int64_t lines, int64_t n, int64_t line_step, int64_t step) {
    return (n == 1 || step == 1) && (lines == 1 || line_step >= std::max<int64_t>(n, 1));
  };
  return (is_dense(rows, columns, row_step, col_step) || is_dense(columns, rows, col_step, row_step)) &&
         std::max(row_step, col_step) <= kMaxOperands;
}

// OpenBLAS built with OpenMP takes its number of threads from omp_get_max_threads() at every call outside of
// a parallel loop, whatever openblas_set_num_threads said: see Note [Same bits] in tensor/parallel.h.
template <class F>
void on_one_thread(const F& call_blas) {
  const int threads = omp_in_parallel() ? 1 : omp_get_max_threads();
  if (threads > 1) omp_set_num_threads(1);
  call_blas();
  if (threads > 1) omp_set_num_threads(threads);
}

template <class T>
constexpr auto gemm = cblas_dgemm;
template <>
constexpr auto gemm<float> = cblas_sgemm;
template <class T>
constexpr auto gemv = cblas_dgemv;
template <>
constexpr auto gemv<float> = cblas_sgemv;

// How BLAS takes a matrix: as it is, or transposed, and the distance between its rows or columns.
struct Layout {
  CBLAS_TRANSPOSE trans;
  int lead;

  template <class T>
  explicit Layout(const Matrix<T>& x)
      : trans(x.col_step == 1 ? CblasNoTrans : CblasTrans),
        lead(static_cast<int>(x.col_step == 1 ? x.row_step : x.col_step)) {}
};

// out = alpha a b + beta out
template <class T>
void blas_product(int n, int m, int k, T alpha, Matrix<const T> a, Matrix<const T> b, T beta, Matrix<T> out) {
  const Layout of_a(a), of_b(b);
  on_one_thread([&] {
    gemm<T>(CblasRowMajor, of_a.trans, of_b.trans, n, m, k, alpha, a.data, of_a.lead, b.data, of_b.lead, beta,
            out.data, static_cast<int>(out.row_step));
  });
}

// y [n, 1] += alpha a [n, k] x [k, 1]
template <class T>
void blas_times_vector(int n, int k, T alpha, Matrix<const T> a, Matrix<const T> x, Matrix<T> y) {
  const Layout of_a(a);
  const bool turned = of_a.trans == CblasTrans;
  on_one_thread([&] {
    gemv<T>(CblasRowMajor, of_a.trans, turned ? k : n, turned ? n : k, alpha, a.data, of_a.lead, x.data,
            static_cast<int>(x.row_step), 1, y.data, static_cast<int>(y.row_step));
  });
}

template <class T>
T dot(int64_t n, const T* a, int64_t a_step, const T* b, int64_t b_step) {
  T sum = 0;
  if (a_step == 1 && b_step == 1)  // in vectors, which a call of BLAS pays for late
    return join_line(n, sum, plus, times, a, b);
  for (int64_t i = 0; i < n; ++i) sum += a[i * a_step] * b[i * b_step];
  return sum;
}

// out = alpha a b, to which what out holds is added on request
template <class T>
void multiply_by_blas(int64_t n, int64_t m, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b,
                      bool adds, Matrix<T> out) {
  if (n == 1 && m == 1) {
    *out.data = (adds ? *out.data : 0) + alpha * dot(k, a.data, a.col_step, b.data, b.row_step);
  } else if (k == 1) {
    for (int64_t i = 0; i < n; ++i) {
      const T factor = alpha * *a.at(i, 0);
      T* row = out.at(i, 0);
      for (int64_t j = 0; j < m; ++j) row[j] = (adds ? row[j] : T(0)) + factor * *b.at(0, j);
    }
  } else if (n == 1) {
    multiply_by_blas<T>(m, n, k, alpha, b.transposed(), a.transposed(), adds, out.transposed());
  } else if (m == 1) {
    for (int64_t i = 0; i < n && !adds; ++i) *out.at(i, 0) = 0;
    blas_times_vector<T>(static_cast<int>(n), static_cast<int>(k), alpha, a, b, out);
  } else {
    blas_product<T>(static_cast<int>(n), static_cast<int>(m), static_cast<int>(k), alpha, a, b, T(adds), out);
  }
}

// How the matrices [n, m] of a result are cut into tiles for the threads, along the longer side. Each tile
// packs one operand anew, so they are as few as sharing allows, of at most 1024 rows (or columns, if there
// are more of them), and as many for each thread. What OpenBLAS computes is cut for two threads whatever
// their number, since there the bits depend on it: see Note [Same bits] in tensor/parallel.h.
//
//                    m
//              +-----------+
//            k |     b     |
//        k     +-----------+
//     +-----+  +-----------+
//     |  a  |  |  tile 0   |    where n >= m, rows of a and of the result are cut,
//   n +- - -+  +- - - - - -+    else columns of b and of the result
//     |     |  |  tile 1   |
//     +-----+  +-----------+
struct Tiles {
  int64_t n, m, size, count, at_once;

  Tiles(int64_t n, int64_t m, int64_t k, int64_t threads) : n(n), m(m) {
    const auto parts = [](int64_t x, int64_t most) { return (x + most - 1) / most; };
    const int64_t longer = std::max(n, m);
    const double work = static_cast<double>(n) * static_cast<double>(m) * static_cast<double>(k);
    const int64_t least = products_per_block(work / static_cast<double>(longer) / 2);
    const int64_t wanted = parts(parts(longer, 1024), threads) * threads;
    size = parts(std::max(least, parts(longer, wanted)), 64) * 64;
    count = parts(longer, size);
    at_once = products_per_block(work / static_cast<double>(count));
  }
  Tile operator[](int64_t index) const {
    const int64_t first = index * size;
    if (n >= m) return {first, std::min(size, n - first), 0, m};
    return {0, n, first, std::min(size, m - first)};
  }
};

// Products of a row and a column each, several at once.
void run_dots(const Tensor& out, const Matrices<const float>& a, const Matrices<const float>& b, int64_t k,
              float alpha) {
  float* y = out.mutable_data<float>();
  parallel_for(out.numel(), products_per_block(static_cast<double>(k)), [&](int64_t begin, int64_t end) {
    for (int64_t first = begin; first < end; first += kDots) {
      Starts left, right;
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

// out [..., n, m] = start + alpha a [..., n, k] b [..., k, m], any of which broadcasts to out's leading
// dimensions
template <class T>
void run(const Tensor& out, const Tensor& a, const Tensor& b, const Tensor& start, T alpha) {
  const int64_t n = out.size(-2), m = out.size(-1), k = a.size(-1);
  const Shape lead = leading(out);
  const Matrices<const T> all_a(a, lead, n, k), all_b(b, lead, k, m), all_start(start, lead, n, m);
  const Matrices<T> all_out(out);
  if constexpr (std::is_same_v<T, float>)
    if (n == 1 && m == 1 && !start.defined() && takes_product<T>())
      return run_dots(out, all_a, all_b, k, alpha);
  const Tiles tiles(n, m, k, takes_product<T>() ? num_threads() : 2);
  parallel_for(out.numel() / (n * m) * tiles.count, tiles.at_once, [&](int64_t begin, int64_t end) {
    for (int64_t index = begin; index < end; ++index) {
      const int64_t matrix = index / tiles.count;
      const Tile t = tiles[index % tiles.count];
      multiply<T>(t.rows, t.columns, k, alpha, all_a[matrix].from(t.i, 0), all_b[matrix].from(0, t.j),
                  start.defined() ? all_start[matrix].from(t.i, t.j) : Matrix<T>{},
                  all_out[matrix].from(t.i, t.j));
    }
  });
}

// x [..., k] as a matrix [N, k] with all leading dimensions in one; a view where the strides allow it.
Tensor as_rows(const Tensor& x) {
  const int64_t last = x.dim() - 1, k = x.shape()[last];
  const CollapsedDims rows(x.shape(), x.strides(), last);
  if (rows.sizes.dim() > 1) return as_rows(clone(x));
  return TensorImpl::view(x, {rows.inner_size(), k},
                          {rows.sizes.empty() ? k : rows.inner_step(), x.strides()[last]});
}

}  // namespace

bool has_own_product(DType dtype) {
#ifdef __FMA__
  static const bool own = [] {
    const char* whose = std::getenv("HEED_PRODUCTS");
    return whose == nullptr || std::strcmp(whose, "openblas") != 0;
  }();
  return own && dtype == float32;
#else
  static_cast<void>(dtype);
  return false;
#endif
}

Tensor for_products(const Tensor& x) {
  if (readable(x) || has_own_product(x.dtype())) return x;
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
void multiply(int64_t n, int64_t m, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b,
              Matrix<const T> start, Matrix<T> out) {
  if (n == 0 || m == 0) return;
  if constexpr (std::is_same_v<T, float>)
    if (takes_product<T>() && (!start.data || start.col_step == 1))
      return product(n, m, k, alpha, a, b, start, out);
  const bool adds = start.data != nullptr;
  if (adds ? start.data != out.data : k == 0)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < m; ++j) *out.at(i, j) = adds ? *start.at(i, j) : T(0);
  if (k == 0) return;
  if (takes_product<T>()) return multiply<T>(n, m, k, alpha, a, b, out, out);
  multiply_by_blas<T>(n, m, k, alpha, a, b, adds, out);
}

template void multiply(int64_t, int64_t, int64_t, float, Matrix<const float>, Matrix<const float>,
                       Matrix<const float>, Matrix<float>);
template void multiply(int64_t, int64_t, int64_t, double, Matrix<const double>, Matrix<const double>,
                       Matrix<const double>, Matrix<double>);

Tensor matmul(const Tensor& a, const Tensor& b, const Tensor& start, double alpha) {
  const int64_t n = a.size(-2), k = a.size(-1), m = b.size(-1);
  Tensor out = Tensor::empty(matrix_shape(broadcast_shapes(leading(a), leading(b)), n, m), a.dtype());
  if (out.numel() == 0) return out;
  check(std::max({n, k, m}) <= kMaxOperands, "a is ", a.shape(), ", b is ", b.shape(),
        "; BLAS counts rows and columns in 31 bits, cut the operands into pieces");
  product_flops() += 2 * out.numel() * k;

  // One matrix b for all of a: its rows make one long product.
  const bool one_b = b.dim() == 2 && a.dim() > 2 && (!start.defined() || start.dim() <= 1) &&
                     out.numel() / m <= kMaxOperands;
  const Tensor left = for_products(one_b ? as_rows(a) : a), right = for_products(b);
  const Tensor target = one_b ? as_rows(out) : out;
  visit_floating(a.dtype(),
                 [&]<class T>(Type<T>) { run<T>(target, left, right, start, static_cast<T>(alpha)); });
  return out;
}

}  // namespace heed::kernel
