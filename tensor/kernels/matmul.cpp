#include "tensor/kernels/matmul.h"

#include <cblas.h>
#include <omp.h>

#include <algorithm>
#include <limits>

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/lines.h"
#include "tensor/parallel.h"

namespace heed::kernel {
namespace {

// OpenBLAS built with OpenMP takes its number of threads from omp_get_max_threads() at every call outside of
// a parallel loop, whatever openblas_set_num_threads said: see Note [Same bits].
class OneThread {
 public:
  OneThread() : before_(omp_in_parallel() ? 1 : omp_get_max_threads()) {
    if (before_ > 1) omp_set_num_threads(1);
  }
  ~OneThread() {
    if (before_ > 1) omp_set_num_threads(before_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

// One name for float and double.

void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int n, int m, int k, float alpha, const float* a, int lda,
          const float* b, int ldb, float beta, float* c, int ldc) {
  cblas_sgemm(CblasRowMajor, ta, tb, n, m, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int n, int m, int k, double alpha, const double* a, int lda,
          const double* b, int ldb, double beta, double* c, int ldc) {
  cblas_dgemm(CblasRowMajor, ta, tb, n, m, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void gemv(CBLAS_TRANSPOSE ta, int rows, int cols, float alpha, const float* a, int lda, const float* x,
          int step, float* y, int y_step) {
  cblas_sgemv(CblasRowMajor, ta, rows, cols, alpha, a, lda, x, step, 1, y, y_step);
}
void gemv(CBLAS_TRANSPOSE ta, int rows, int cols, double alpha, const double* a, int lda, const double* x,
          int step, double* y, int y_step) {
  cblas_dgemv(CblasRowMajor, ta, rows, cols, alpha, a, lda, x, step, 1, y, y_step);
}
template <class T>
T dot(int64_t n, const T* a, int64_t a_step, const T* b, int64_t b_step) {
  T sum = 0;
  if (a_step == 1 && b_step == 1)  // in vectors, which a call of BLAS pays for late
    return join_line(
        n, sum, [](auto u, auto v) { return u + v; }, [](auto u, auto v) { return u * v; }, a, b);
  for (int64_t i = 0; i < n; ++i) sum += a[i * a_step] * b[i * b_step];
  return sum;
}

// How BLAS calls a matrix: as it stands, or transposed, and the distance between its rows or columns.
struct Layout {
  CBLAS_TRANSPOSE trans;
  int lead;
};

Layout layout(int64_t row_step, int64_t col_step) {
  if (col_step == 1) return {CblasNoTrans, static_cast<int>(row_step)};
  return {CblasTrans, static_cast<int>(col_step)};
}

template <class T>
void scale(int64_t n, int64_t m, T beta, Matrix<T> out) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < m; ++j) *out.at(i, j) = beta == 0 ? T(0) : beta * *out.at(i, j);
}

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
constexpr double kWorth = 1 << 20;  // multiplications that pay for waking a thread

bool readable(const Tensor& x) {
  const int64_t row = x.dim() - 2, col = x.dim() - 1;
  return is_dense(x.shape()[row], x.shape()[col], x.strides()[row], x.strides()[col]) &&
         std::max(x.strides()[row], x.strides()[col]) <= kMost;
}

// How far to cut one of n and m: see Note [Same bits]. Each block packs the other operand anew, so blocks are
// as large as sharing allows: halves, of at most 1024 rows (or columns, if there are more of them).
int64_t block_of(int64_t longer, double work_of_one) {
  const auto up = [](int64_t x) { return (x + 63) / 64 * 64; };
  const auto enough = static_cast<int64_t>(2 * kWorth / std::max(work_of_one, 1.0));
  return std::max(up(enough + 1), std::min<int64_t>(up((longer + 1) / 2), 1024));
}

template <class T>
void run(const Tensor& out, const Tensor& a, const Tensor& b, const Tensor& start, T alpha) {
  const Shape& shape = out.shape();
  const int64_t rank = shape.dim();
  const int64_t n = shape[rank - 2], m = shape[rank - 1], k = a.shape().back();
  const bool by_rows = n >= m;
  const int64_t longer = std::max(n, m);
  const double work = static_cast<double>(n) * static_cast<double>(m) * static_cast<double>(k);
  const int64_t block = block_of(longer, work / static_cast<double>(longer));
  const int64_t blocks = (longer + block - 1) / block;
  const int64_t batches = out.numel() / (n * m);
  const auto at_once = static_cast<int64_t>(1 + kWorth * static_cast<double>(blocks) / std::max(work, 1.0));

  const Matrix<const T> all_a{a.data<T>(), a.strides()[a.dim() - 2], a.strides().back()};
  const Matrix<const T> all_b{b.data<T>(), b.strides()[b.dim() - 2], b.strides().back()};
  const Matrix<const T> all_start{start.defined() ? start.data<T>() : nullptr,
                                  start.defined() ? tail_step(start, 2) : 0,
                                  start.defined() ? tail_step(start, 1) : 0};
  const Matrix<T> all_out{const_cast<T*>(out.data<T>()), m, 1};
  const Strides a_lead = lead_steps(a, shape), b_lead = lead_steps(b, shape),
                start_lead = start.defined() ? lead_steps(start, shape) : Strides();

  parallel_for(batches * blocks, at_once, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t batch = item / blocks, first = item % blocks * block;
      Matrix<const T> a_now = all_a, b_now = all_b, start_now = all_start;
      int64_t left = batch;
      for (int64_t d = rank - 3; d >= 0; --d) {
        const int64_t position = left % shape[d];
        left /= shape[d];
        a_now.data += position * a_lead[d];
        b_now.data += position * b_lead[d];
        if (start_now.data) start_now.data += position * start_lead[d];
      }
      Matrix<T> out_now{all_out.data + batch * n * m, m, 1};
      const int64_t i = by_rows ? first : 0, j = by_rows ? 0 : first;
      const int64_t rows = by_rows ? std::min(block, n - first) : n;
      const int64_t cols = by_rows ? m : std::min(block, m - first);
      a_now.data = a_now.at(i, 0);
      b_now.data = b_now.at(0, j);
      out_now.data = out_now.at(i, j);
      if (start_now.data)
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t c = 0; c < cols; ++c) *out_now.at(r, c) = *start_now.at(i + r, j + c);
      multiply<T>(rows, cols, k, alpha, a_now, b_now, T(start_now.data ? 1 : 0), out_now);
    }
  });
}

Shape result_shape(const Tensor& a, const Tensor& b) {
  const int64_t ra = a.dim() - 2, rb = b.dim() - 2;
  Shape shape = ra == 0 ? Shape(b.shape().data(), rb)
                : rb == 0
                    ? Shape(a.shape().data(), ra)
                    : broadcast_shapes("matmul", Shape(a.shape().data(), ra), Shape(b.shape().data(), rb));
  shape.push_back(a.shape()[ra]);
  shape.push_back(b.shape()[rb + 1]);
  return shape;
}

}  // namespace

Tensor for_blas(const Tensor& x) {
  if (readable(x)) return x;
  Shape shape = x.shape();
  for (int64_t d = 0; d < x.dim() - 2; ++d)
    if (x.strides()[d] == 0 && shape[d] > 0) shape[d] = 1;
  return clone(x.view_as(shape, x.strides(), x.body().offset));
}

Strides lead_steps(const Tensor& x, const Shape& shape) {
  Strides steps = Shape::filled(shape.dim() - 2, 0);
  const int64_t missing = shape.dim() - x.dim();
  for (int64_t d = std::max<int64_t>(missing, 0); d < steps.dim(); ++d)
    if (x.shape()[d - missing] != 1) steps[d] = x.strides()[d - missing];
  return steps;
}

int64_t tail_step(const Tensor& x, int64_t from_end) {
  const int64_t d = x.dim() - from_end;
  return d < 0 || x.shape()[d] == 1 ? 0 : x.strides()[d];
}

int64_t& product_flops() {
  static thread_local constinit int64_t flops = 0;
  return flops;
}

bool is_dense(int64_t rows, int64_t cols, int64_t row_step, int64_t col_step) {
  return ((cols == 1 || col_step == 1) && (rows == 1 || row_step >= std::max<int64_t>(cols, 1))) ||
         ((rows == 1 || row_step == 1) && (cols == 1 || col_step >= std::max<int64_t>(rows, 1)));
}

template <class T>
void multiply(int64_t n, int64_t m, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b, T beta,
              Matrix<T> out) {
  if (n == 0 || m == 0) return;
  if (k == 0) return scale(n, m, beta, out);
  if (n == 1 && m == 1) {
    const T sum = alpha * dot(k, a.data, a.col_step, b.data, b.row_step);
    *out.data = beta == 0 ? sum : beta * *out.data + sum;
    return;
  }
  if (k == 1) {
    for (int64_t i = 0; i < n; ++i) {
      const T factor = alpha * *a.at(i, 0);
      T* row = out.at(i, 0);
      for (int64_t j = 0; j < m; ++j) row[j] = (beta == 0 ? T(0) : beta * row[j]) + factor * *b.at(0, j);
    }
    return;
  }
  const OneThread guard;
  if (n == 1 || m == 1) {  // a matrix times a vector
    if (beta != 1) scale(n, m, beta, out);
    const bool left = m == 1;
    const Matrix<const T> matrix = left ? a : b.transposed();  // [rows, k]
    const int64_t rows = left ? n : m;
    const Layout l = layout(matrix.row_step, matrix.col_step);
    const int stored_rows = static_cast<int>(l.trans == CblasNoTrans ? rows : k);
    const int stored_cols = static_cast<int>(l.trans == CblasNoTrans ? k : rows);
    return gemv(l.trans, stored_rows, stored_cols, alpha, matrix.data, l.lead, left ? b.data : a.data,
                static_cast<int>(left ? b.row_step : a.col_step), out.data,
                static_cast<int>(left ? out.row_step : 1));
  }
  const Layout la = layout(a.row_step, a.col_step), lb = layout(b.row_step, b.col_step);
  gemm(la.trans, lb.trans, static_cast<int>(n), static_cast<int>(m), static_cast<int>(k), alpha, a.data,
       la.lead, b.data, lb.lead, beta, out.data, static_cast<int>(out.row_step));
}

template void multiply(int64_t, int64_t, int64_t, float, Matrix<const float>, Matrix<const float>, float,
                       Matrix<float>);
template void multiply(int64_t, int64_t, int64_t, double, Matrix<const double>, Matrix<const double>, double,
                       Matrix<double>);

Tensor as_rows(const Tensor& x) {
  const int64_t last = x.dim() - 1;
  int64_t rows = 1, step = 0;
  bool one_run = true;
  for (int64_t d = last - 1; d >= 0; --d) {
    if (x.shape()[d] == 1) continue;
    if (rows == 1)
      step = x.strides()[d];
    else
      one_run = one_run && x.strides()[d] == step * rows;
    rows *= x.shape()[d];
  }
  if (!one_run) return as_rows(clone(x));
  return x.view_as({rows, x.shape()[last]}, {rows > 1 ? step : x.shape()[last], x.strides()[last]},
                   x.body().offset);
}

Tensor matmul(const Tensor& a, const Tensor& b, const Tensor& start, double alpha) {
  Tensor out = Tensor::empty(result_shape(a, b), a.dtype());
  if (out.numel() == 0) return out;
  const int64_t k = a.shape().back();
  for (const int64_t size : {a.shape()[a.dim() - 2], k, b.shape().back()})
    check(size <= kMost, "matmul: a is ", a.shape(), ", b is ", b.shape(),
          "; BLAS counts rows and columns in 31 bits, cut the operands into pieces");
  product_flops() += 2 * out.numel() * k;

  // One matrix b for all of a: its rows make one long product.
  const bool one_b = b.dim() == 2 && a.dim() > 2 && (!start.defined() || start.dim() <= 1) &&
                     out.numel() / b.shape().back() <= kMost;
  const Tensor left = for_blas(one_b ? as_rows(a) : a), right = for_blas(b);
  const Tensor target = one_b ? as_rows(out) : out;
  visit_floating(a.dtype(),
                 [&]<class T>(Type<T>) { run<T>(target, left, right, start, static_cast<T>(alpha)); });
  return out;
}

}  // namespace heed::kernel
