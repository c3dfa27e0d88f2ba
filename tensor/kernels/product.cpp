#include "tensor/kernels/product.h"

#include <vector>

#include "tensor/kernels/outer_inner.h"

// A tile of the result, kRows x kColumns numbers, stays in registers while k runs: each step of k loads one
// row of the tile's columns of b and multiplies it with each number of the tile's rows of a. What a tile
// reads must be close in memory. Therefore b is read slab by slab, kDepth of its rows and kSlab of its
// columns, which are copied to panels of the width of a tile that stay in the second-level cache. a is read
// in groups of rows, which are copied if its numbers are far apart. Where reading b in place costs less than
// a copy, it is not copied.
//
//                        m
//              +------------------+
//              |   :   | : |      |
//            k |   :   | : |      |  <- the slab of b: kDepth x kSlab, in panels of kColumns
//      k       |   :   | : |      |
//   +------+   +------------------+
//   |      |   |   :   | : |      |
//   |======|   |===:===|#:#|======|  <- a group of a's rows; # is the tile of registers
// n |      |   |   :   | : |      |
//   +------+   +------------------+
namespace heed::kernel {
namespace {

using Vector = Simd<float>::Values;
constexpr int kLanes = Simd<float>::size;
constexpr int kRows = kVectorBytes == 64 ? 14 : 6;  // of the 32 or 16 registers, all but a few hold sums
constexpr int kColumns = 2 * kLanes;
constexpr int64_t kGroup = 8 * kRows, kDepth = 256, kSlab = 512;

// A tile of R rows and C vectors of columns: out = start + a b. The steps are separate arguments because a
// Matrix is passed through memory, which slows small products. Nothing is called inside, so that the sums
// stay in registers.
template <int R, int C>
void micro_kernel(int64_t k, const float* a, int64_t a_row, int64_t a_col, const float* b, int64_t b_row,
                  const float* start, int64_t start_row, float* out, int64_t out_row) {
  Vector sum[R][C];
  HEED_UNROLL
  for (int r = 0; r < R; ++r) HEED_UNROLL
  for (int c = 0; c < C; ++c)
    sum[r][c] = start ? Simd<float>::load(start + r * start_row + c * kLanes) : Vector{};
  for (; k > 0; --k, a += a_col, b += b_row) {
    Vector row[C];
    HEED_UNROLL
    for (int c = 0; c < C; ++c) row[c] = Simd<float>::load(b + c * kLanes);
    HEED_UNROLL
    for (int r = 0; r < R; ++r) HEED_UNROLL
    for (int c = 0; c < C; ++c) sum[r][c] += a[r * a_row] * row[c];
  }
  HEED_UNROLL
  for (int r = 0; r < R; ++r) HEED_UNROLL
  for (int c = 0; c < C; ++c) Simd<float>::store(out + r * out_row + c * kLanes, sum[r][c]);
}

using MicroKernel = decltype(micro_kernel<1, 1>);
template <int C, int... R>
constexpr std::array<MicroKernel*, kRows> micro_kernels(std::integer_sequence<int, R...>) {
  return {micro_kernel<R + 1, C>...};
}
// kMicroKernels[C - 1][R - 1]
constexpr std::array kMicroKernels{micro_kernels<1>(std::make_integer_sequence<int, kRows>()),
                                   micro_kernels<2>(std::make_integer_sequence<int, kRows>())};
constexpr int kWide = 8;  // vectors in the tile of a single row: fewer sums would wait for their own results

// to [depth, kGroup] = the transpose of a [rows, depth]
void pack_a(int64_t rows, int64_t depth, Matrix<const float> a, float* to) {
  for (int64_t p = 0; p < depth; ++p)
    for (int64_t r = 0; r < rows; ++r) to[p * kGroup + r] = *a.at(r, p);
}

// to [depth, kLanes], whose rows are kColumns apart, = alpha b [depth, m] for m <= kLanes, and zeros in the
// other columns
[[gnu::noinline]] void pack_b(int64_t depth, int64_t m, float alpha, Matrix<const float> b, float* to) {
  int64_t p = 0;
  if (b.col_step == 1 && m == kLanes)
    for (; p < depth; ++p) Simd<float>::store(to + p * kColumns, alpha * Simd<float>::load(b.at(p, 0)));
  if (b.row_step == 1)
    for (; p + kLanes <= depth; p += kLanes) {
      Vector v[kLanes];
      HEED_UNROLL
      for (int i = 0; i < kLanes; ++i) v[i] = i < m ? alpha * Simd<float>::load(b.at(p, i)) : Vector{};
      transpose_square<float>(v);
      HEED_UNROLL
      for (int i = 0; i < kLanes; ++i) Simd<float>::store(to + (p + i) * kColumns, v[i]);
    }
  for (; p < depth; ++p) {
    float* const row = to + p * kColumns;
    Simd<float>::store(row, Vector{});
    for (int64_t j = 0; j < m; ++j) row[j] = alpha * *b.at(p, j);
  }
}

// One tile: out [rows, columns] = start + a b, for columns <= kColumns of a panel of b. A part of a vector at
// the right edge is computed in a buffer of whole ones.
inline void multiply_tile(int64_t rows, int64_t columns, int64_t depth, const Matrix<const float>& a,
                          const Matrix<const float>& b, const Matrix<const float>& start,
                          const Matrix<float>& out) {
  MicroKernel* const kernel = kMicroKernels[columns > kLanes][static_cast<size_t>(rows - 1)];
  if (columns % kLanes == 0)
    return kernel(depth, a.data, a.row_step, a.col_step, b.data, b.row_step, start.data, start.row_step,
                  out.data, out.row_step);
  float part[kRows * kColumns];
  for (int64_t r = 0; start.data && r < rows; ++r)
    std::fill(std::copy_n(start.at(r, 0), columns, part + r * kColumns), part + (r + 1) * kColumns, 0.0F);
  kernel(depth, a.data, a.row_step, a.col_step, b.data, b.row_step, start.data ? part : nullptr, kColumns,
         part, kColumns);
  for (int64_t r = 0; r < rows; ++r) std::copy_n(part + r * kColumns, columns, out.at(r, 0));
}

// a [n, 1] b [1, m]
void outer_product(int64_t n, int64_t m, float alpha, const Matrix<const float>& a, const float* b,
                   const Matrix<const float>& start, const Matrix<float>& out) {
  for (int64_t i = 0; i < n; ++i) {
    const float factor = *a.at(i, 0);
    const float* before = start.at(i, 0);
    float* row = out.at(i, 0);
    for (int64_t j = 0; j < m; ++j) row[j] = std::fma(factor, alpha * b[j], before ? before[j] : 0);
  }
}

// a [1, k] b [k, 1]
float inner_product(int64_t k, float alpha, const Matrix<const float>& a, const Matrix<const float>& b,
                    float sum) {
  for (int64_t p = 0; p < k; ++p) sum = std::fma(*a.at(0, p), alpha * *b.at(p, 0), sum);
  return sum;
}

// a [1, k] b [k, m], where the columns of b are dense. Squares of b are transposed in registers. The last
// square may contain a column more than once.
[[gnu::noinline]] void row_times_columns(int64_t m, int64_t k, float alpha, Matrix<const float> a,
                                         Matrix<const float> b, const float* start, float* out) {
  for (int64_t j = 0; j < m; j += kLanes) {
    const int64_t count = std::min<int64_t>(kLanes, m - j);
    const float* columns[kLanes];
    for (int64_t i = 0; i < kLanes; ++i) columns[i] = b.at(0, j + std::min(i, count - 1));
    Vector sum{};
    if (start && count == kLanes) sum = Simd<float>::load(start + j);
    for (int64_t i = 0; start && count < kLanes && i < count; ++i) sum[i] = start[j + i];
    int64_t p = 0;
    for (; p + kLanes <= k; p += kLanes) {
      Vector v[kLanes];
      HEED_UNROLL
      for (int i = 0; i < kLanes; ++i) v[i] = alpha * Simd<float>::load(columns[i] + p);
      transpose_square<float>(v);
      HEED_UNROLL
      for (int i = 0; i < kLanes; ++i) sum += *a.at(0, p + i) * v[i];
    }
    for (; p < k; ++p)
      for (int i = 0; i < kLanes; ++i) sum[i] = std::fma(*a.at(0, p), alpha * columns[i][p], sum[i]);
    if (count == kLanes)
      Simd<float>::store(out + j, sum);
    else
      for (int64_t i = 0; i < count; ++i) out[j + i] = sum[i];
  }
}

// a [1, k] b [k, m], where the rows of b are dense and read in place. Returns how many columns are done: all
// whose vectors are whole, and the rest too if they can be computed with some of the others again.
int64_t row_times_rows(int64_t m, int64_t k, const Matrix<const float>& a, const Matrix<const float>& b,
                       const float* start, float* out) {
  int64_t j = 0;
  const auto tiles = [&](int64_t columns, MicroKernel* kernel) {
    for (; j + columns <= m; j += columns)
      kernel(k, a.data, 0, a.col_step, b.at(0, j), b.row_step, start ? start + j : nullptr, 0, out + j, 0);
  };
  tiles(kWide * kLanes, micro_kernel<1, kWide>);
  tiles(kColumns, micro_kernel<1, 2>);
  tiles(kLanes, micro_kernel<1, 1>);
  if (j < m && m >= kLanes && start != out) {
    j = m - kLanes;
    tiles(kLanes, micro_kernel<1, 1>);
  }
  return j;
}

// Memory of this thread for packed operands.
struct alignas(64) CacheLine {
  float numbers[16];
};
float* workspace(std::vector<CacheLine>& lines, int64_t size) {
  if (static_cast<int64_t>(lines.size()) * 16 <= size) lines.resize(static_cast<size_t>(size) / 16 + 1);
  return lines[0].numbers;
}

}  // namespace

void sgemm(int64_t n, int64_t m, int64_t k, float alpha, Matrix<const float> a, Matrix<const float> b,
           Matrix<const float> start, Matrix<float> out) {
  // A column is a row of the transposed product.
  if (m == 1 && n > 1 && alpha == 1 && out.row_step == 1 && (!start.data || start.row_step == 1))
    return sgemm(1, n, k, alpha, b.transposed(), a.transposed(), start.transposed(), out.transposed());
  if (k == 1 && b.col_step == 1) return outer_product(n, m, alpha, a, b.data, start, out);
  if (n == 1 && m == 1) {
    *out.data = inner_product(k, alpha, a, b, start.data ? *start.data : 0);
    return;
  }
  if (n == 1 && b.row_step == 1 && b.col_step != 1 && k > 0)
    return row_times_columns(m, k, alpha, a, b, start.data, out.data);

  const bool packs_b = n > 5 * kRows || b.col_step != 1 || alpha != 1;
  const bool packs_a = a.col_step >= kDepth && k > 64 && m > 2 * kColumns;
  const int64_t done = n == 1 && !packs_b ? row_times_rows(m, k, a, b, start.data, out.data) : 0;
  static thread_local std::vector<CacheLine> a_workspace, b_workspace;
  for (int64_t j = done; j < m; j += kSlab)
    for (int64_t p = 0; p == 0 || p < k; p += kDepth) {
      const int64_t columns = std::min(kSlab, m - j), depth = std::min(kDepth, k - p);
      float* const panels = workspace(b_workspace, depth * kSlab);
      const int64_t in_place = packs_b ? 0 : columns % kLanes == 0 ? columns : columns / kColumns * kColumns;
      for (int64_t c = in_place; c < columns; c += kLanes)
        pack_b(depth, std::min<int64_t>(kLanes, columns - c), alpha, b.block(p, j + c),
               panels + c / kColumns * kColumns * depth + c % kColumns);
      const Matrix<const float> before = p == 0 ? start : out;
      for (int64_t i = 0; i < n; i += kGroup) {
        const int64_t rows = std::min(kGroup, n - i);
        Matrix<const float> group = a.block(i, p);
        if (packs_a) {
          float* const packed = workspace(a_workspace, kGroup * depth);
          pack_a(rows, depth, group, packed);
          group = {packed, 1, kGroup};
        }
        for (int64_t c = 0; c < columns; c += kColumns) {
          const Matrix<const float> panel =
              c < in_place ? b.block(p, j + c) : Matrix<const float>{panels + c * depth, kColumns, 1};
          for (int64_t r = 0; r < rows; r += kRows)
            multiply_tile(std::min<int64_t>(kRows, rows - r), std::min<int64_t>(kColumns, columns - c), depth,
                          group.block(r, 0), panel, before.block(i + r, j + c), out.block(i + r, j + c));
        }
      }
    }
}

std::array<float, kDots> dots(int64_t k, float alpha, const Starts& a, int64_t a_step, const Starts& b,
                              int64_t b_step) {
  std::array<float, kDots> sums{};
  for (int64_t p = 0; p < k; ++p) HEED_UNROLL
  for (size_t i = 0; i < kDots; ++i) sums[i] = std::fma(a[i][p * a_step], alpha * b[i][p * b_step], sums[i]);
  return sums;
}

}  // namespace heed::kernel
