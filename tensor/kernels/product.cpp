#include "tensor/kernels/product.h"

#include <vector>

#include "tensor/kernels/outer_inner.h"

// A tile of the result, kRows x kColumns numbers, stays in registers while k runs: for each step of k one row
// of the tile's columns of b is loaded, and each number of the tile's rows of a is multiplied with it. What a
// tile reads must be near in memory, so b goes slab by slab, kDepth of its rows and kSlab of its columns,
// which are copied to panels, one a tile wide each, that the second-level cache keeps; a goes in groups of
// rows, which are copied where its numbers are far apart. Where reading b in place costs less than copying
// it, it stays.
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

// R rows and C vectors of columns: out = start + a b over k. The steps are arguments, since a Matrix goes
// through memory, which small products feel; nothing is called inside, lest the sums leave their registers.
template <int R, int C>
void tile(int64_t k, const float* a, int64_t a_row, int64_t a_col, const float* b, int64_t b_row,
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

using TileFunction = decltype(tile<1, 1>);
template <int C, int... R>
constexpr std::array<TileFunction*, kRows> tiles_of(std::integer_sequence<int, R...>) {
  return {tile<R + 1, C>...};
}
// kTiles[C - 1][R - 1]
constexpr std::array kTiles{tiles_of<1>(std::make_integer_sequence<int, kRows>()),
                            tiles_of<2>(std::make_integer_sequence<int, kRows>())};
constexpr int kWide = 8;  // vectors of a single row's tile: the sums of two would wait for themselves

// to [k, kLanes], whose rows are kColumns apart = alpha b [k, m] for m <= kLanes, and zeros beside.
[[gnu::noinline]] void copy(int64_t k, int64_t m, float alpha, Matrix<const float> b, float* to) {
  int64_t p = 0;
  if (b.col_step == 1 && m == kLanes)
    for (; p < k; ++p) Simd<float>::store(to + p * kColumns, alpha * Simd<float>::load(b.at(p, 0)));
  if (b.row_step == 1)
    for (; p + kLanes <= k; p += kLanes) {
      Vector v[kLanes];
      HEED_UNROLL
      for (int i = 0; i < kLanes; ++i) v[i] = i < m ? alpha * Simd<float>::load(b.at(p, i)) : Vector{};
      transpose_square<float>(v);
      HEED_UNROLL
      for (int i = 0; i < kLanes; ++i) Simd<float>::store(to + (p + i) * kColumns, v[i]);
    }
  for (; p < k; ++p) {
    float* const row = to + p * kColumns;
    Simd<float>::store(row, Vector{});
    for (int64_t j = 0; j < m; ++j) row[j] = alpha * *b.at(p, j);
  }
}

// One row a [1, k] by m dense columns of b: squares of b are turned in registers. The last square may have a
// column more than once.
[[gnu::noinline]] void row_product(int64_t m, int64_t k, float alpha, Matrix<const float> a,
                                   Matrix<const float> b, const float* start, float* out) {
  for (int64_t j = 0; j < m; j += kLanes) {
    const int64_t some = std::min<int64_t>(kLanes, m - j);
    const float* columns[kLanes];
    for (int64_t i = 0; i < kLanes; ++i) columns[i] = b.at(0, j + std::min(i, some - 1));
    Vector sum{};
    if (start && some == kLanes) sum = Simd<float>::load(start + j);
    for (int64_t i = 0; start && some < kLanes && i < some; ++i) sum[i] = start[j + i];
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
    if (some == kLanes)
      Simd<float>::store(out + j, sum);
    else
      for (int64_t i = 0; i < some; ++i) out[j + i] = sum[i];
  }
}

// Memory of this thread for copies.
struct alignas(64) SourceLocation {
  float numbers[16];
};
float* workspace(std::vector<SourceLocation>& lines, int64_t size) {
  if (static_cast<int64_t>(lines.size()) * 16 <= size) lines.resize(static_cast<size_t>(size) / 16 + 1);
  return lines[0].numbers;
}

}  // namespace

void product(int64_t n, int64_t m, int64_t k, float alpha, Matrix<const float> a, Matrix<const float> b,
             Matrix<const float> start, Matrix<float> out) {
  // A column is a row of the transposed; an outer product, and a single number, are one loop.
  if (m == 1 && n > 1 && alpha == 1 && out.row_step == 1 && (!start.data || start.row_step == 1))
    return product(1, n, k, alpha, b.transposed(), a.transposed(), start.transposed(), out.transposed());
  if (k == 1 && b.col_step == 1) {
    for (int64_t i = 0; i < n; ++i) {
      const float factor = *a.at(i, 0);
      const float* before = start.data ? start.at(i, 0) : nullptr;
      float* row = out.at(i, 0);
      for (int64_t j = 0; j < m; ++j) row[j] = std::fma(factor, alpha * b.data[j], before ? before[j] : 0);
    }
    return;
  }
  if (n == 1 && m == 1) {
    float sum = start.data ? *start.data : 0;
    for (int64_t p = 0; p < k; ++p) sum = std::fma(*a.at(0, p), alpha * *b.at(p, 0), sum);
    *out.data = sum;
    return;
  }
  if (n == 1 && b.row_step == 1 && b.col_step != 1 && k > 0)
    return row_product(m, k, alpha, a, b, start.data, out.data);

  const bool b_stays = n <= 5 * kRows && b.col_step == 1 && alpha == 1;
  int64_t done = 0;
  const auto row_tiles = [&](int64_t columns, TileFunction* sum) {
    for (; done + columns <= m; done += columns)
      sum(k, a.data, 0, a.col_step, b.at(0, done), b.row_step, start.data ? start.at(0, done) : nullptr, 0,
          out.at(0, done), 0);
  };
  if (n == 1 && b_stays) {
    row_tiles(kWide * kLanes, tile<1, kWide>);
    row_tiles(kColumns, tile<1, 2>);
    row_tiles(kLanes, tile<1, 1>);
    if (done < m && m >= kLanes && start.data != out.data) {
      done = m - kLanes;  // the last ones of a vector, some for the second time
      row_tiles(kLanes, tile<1, 1>);
    }
    if (done == m) return;
  }

  static thread_local std::vector<SourceLocation> for_a, for_b;
  const bool a_stays = a.col_step < kDepth || k <= 64 || m <= 2 * kColumns;
  for (int64_t j = done; j < m; j += kSlab)
    for (int64_t p = 0; p == 0 || p < k; p += kDepth) {
      const int64_t columns = std::min(kSlab, m - j), depth = std::min(kDepth, k - p);
      float* const panels = workspace(for_b, depth * kSlab);
      const int64_t whole_panels = columns % kLanes == 0 ? columns : columns / kColumns * kColumns;
      for (int64_t c = b_stays ? whole_panels : 0; c < columns; c += kLanes)
        copy(depth, std::min<int64_t>(kLanes, columns - c), alpha, b.from(p, j + c),
             panels + c / kColumns * kColumns * depth + c % kColumns);
      const Matrix<const float> from = p == 0 ? start : out;
      for (int64_t i = 0; i < n; i += kGroup) {
        const int64_t rows = std::min(kGroup, n - i);
        Matrix<const float> group = a.from(i, p);
        if (!a_stays) {
          float* const to = workspace(for_a, kGroup * depth);
          for (int64_t q = 0; q < depth; ++q)
            for (int64_t r = 0; r < rows; ++r) to[q * kGroup + r] = *group.at(r, q);
          group = {to, 1, kGroup};
        }
        for (int64_t c = 0; c < columns; c += kColumns) {
          const int64_t width = std::min<int64_t>(kColumns, columns - c);
          const bool whole = width % kLanes == 0, direct = whole && b_stays;
          const float* const panel = direct ? b.at(p, j + c) : panels + c * depth;
          const int64_t panel_row = direct ? b.row_step : kColumns;
          for (int64_t r = 0; r < rows; r += kRows) {
            const int64_t some = std::min<int64_t>(kRows, rows - r);
            TileFunction* const sum = kTiles[width > kLanes][static_cast<size_t>(some - 1)];
            const float* const before = from.data ? from.at(i + r, j + c) : nullptr;
            const Matrix<float> y = out.from(i + r, j + c);
            if (whole) {
              sum(depth, group.at(r, 0), group.row_step, group.col_step, panel, panel_row, before,
                  from.row_step, y.data, y.row_step);
            } else {
              float part[kRows * kColumns];
              for (int64_t q = 0; before && q < some; ++q)
                std::fill(std::copy_n(before + q * from.row_step, width, part + q * kColumns),
                          part + (q + 1) * kColumns, 0.0F);
              sum(depth, group.at(r, 0), group.row_step, group.col_step, panel, panel_row,
                  before ? part : nullptr, kColumns, part, kColumns);
              for (int64_t q = 0; q < some; ++q) std::copy_n(part + q * kColumns, width, y.at(q, 0));
            }
          }
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
