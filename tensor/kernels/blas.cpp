#include "tensor/kernels/blas.h"

#include <cblas.h>
#include <omp.h>

#include "tensor/kernels/outer_inner.h"

namespace heed::kernel {
namespace {

// OpenBLAS starts with one thread for each core; see Note [Same bits] in tensor/parallel.h. It passes the new
// number on to OpenMP, so OpenMP's own number is read first.
const bool has_one_thread = (num_threads(), openblas_set_num_threads(1), true);

// Calls a function of BLAS; sizes and steps become ints. OpenBLAS built with OpenMP takes its number of
// threads from omp_get_max_threads() at every call outside of a parallel loop, whatever
// openblas_set_num_threads() was given: see Note [Same bits] in tensor/parallel.h.
void on_one_thread(const auto& function, auto... arguments) {
  const int threads = omp_in_parallel() ? 1 : omp_get_max_threads();
  if (threads > 1) omp_set_num_threads(1);
  function(arguments...);
  if (threads > 1) omp_set_num_threads(threads);
}

// The functions of BLAS for the type of the argument.
constexpr auto gemm_for(float) { return cblas_sgemm; }
constexpr auto gemm_for(double) { return cblas_dgemm; }
constexpr auto gemv_for(float) { return cblas_sgemv; }
constexpr auto gemv_for(double) { return cblas_dgemv; }

// How BLAS describes a matrix: as it is or transposed, and the distance of its rows or columns.
auto layout_of(const auto& x) {
  return x.col_step == 1 ? std::pair(CblasNoTrans, x.row_step) : std::pair(CblasTrans, x.col_step);
}

}  // namespace

bool readable_by_blas(const Tensor& x) {
  const int64_t rows = x.size(-2), columns = x.size(-1);
  const int64_t row_step = x.strides()[x.dim() - 2], col_step = x.strides()[x.dim() - 1];
  const auto is_dense = [](int64_t lines, int64_t n, int64_t line_step, int64_t step) {
    return (n == 1 || step == 1) && (lines == 1 || line_step >= std::max<int64_t>(n, 1));
  };
  return (is_dense(rows, columns, row_step, col_step) || is_dense(columns, rows, col_step, row_step)) &&
         std::max(row_step, col_step) <= kMaxSize;
}

template <class T>
void blas_tile(int64_t n, int64_t m, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b, bool adds,
               Matrix<T> out) {
  if (n == 1 && m == 1) {
    T sum = 0;
    if (a.col_step == 1 && b.row_step == 1)  // in vectors: a call of BLAS pays off only for long ones
      sum = join_line(k, T(0), std::plus<>(), std::multiplies<>(), a.data, b.data);
    else
      for (int64_t l = 0; l < k; ++l) sum += *a.at(0, l) * *b.at(l, 0);
    *out.data = (adds ? *out.data : 0) + alpha * sum;
  } else if (k == 1) {
    for (int64_t i = 0; i < n; ++i) {
      const T factor = alpha * *a.at(i, 0);
      T* row = out.at(i, 0);
      for (int64_t j = 0; j < m; ++j) row[j] = (adds ? row[j] : T(0)) + factor * *b.at(0, j);
    }
  } else if (n == 1) {
    blas_tile<T>(m, n, k, alpha, b.transposed(), a.transposed(), adds, out.transposed());
  } else if (m == 1) {
    for (int64_t i = 0; i < n && !adds; ++i) *out.at(i, 0) = 0;
    const auto [trans, lead] = layout_of(a);
    const auto [rows, columns] = trans == CblasNoTrans ? std::pair(n, k) : std::pair(k, n);
    on_one_thread(gemv_for(alpha), CblasRowMajor, trans, rows, columns, alpha, a.data, lead, b.data,
                  b.row_step, 1, out.data, out.row_step);  // out += alpha a b
  } else {
    const auto [a_trans, a_lead] = layout_of(a);
    const auto [b_trans, b_lead] = layout_of(b);
    on_one_thread(gemm_for(alpha), CblasRowMajor, a_trans, b_trans, n, m, k, alpha, a.data, a_lead, b.data,
                  b_lead, T(adds), out.data, out.row_step);  // out = alpha a b + adds out
  }
}

template decltype(blas_tile<float>) blas_tile<float>;
template decltype(blas_tile<double>) blas_tile<double>;

std::string blas_info() {
  const std::string config = openblas_get_config();  // "OpenBLAS 0.3.21 DYNAMIC_ARCH ..."
  return config.substr(0, config.find(' ', config.find(' ') + 1)) + " openmp " + openblas_get_corename();
}

}  // namespace heed::kernel
