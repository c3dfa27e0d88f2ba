#include "tensor/kernels/product.h"

#include "tensor/kernels/outer_inner.h"

// A tile of the result, up to kSums vectors, stays in registers while k runs: each step of k loads
// one row of the tile's columns of b and multiplies it with each number of the tile's rows of a. b is read
// slab by slab, kDepth of its rows and kSlab of its columns, which are packed into panels of the width of a
// tile. Where registers have 512 bits, a tile's rows of a stay in the first-level cache while the panels
// stream past them from the second, or the third in wide products. With smaller registers, a slab is wider
// than the second-level cache: the rows of kGroup tiles stay there, and each panel passes all of them before
// the next. Few and wide rows of a are read in place: six of them, even if they fall into one set of a cache
// of eight ways, leave room for the panel. Columns of a are packed, for kGroup tiles at a time; a Gathered a
// is read in place. Where reading b in place costs less than packing it, it is not packed.
//
//                        m
//              +------------------+
//              |   :   | : |      |
//            k |   :   | : |      |  <- the slab of b: kDepth x kSlab, in panels of the width of a tile
//      k       |   :   | : |      |
//   +------+   +------------------+
//   |      |   |   :   | : |      |
//   |======|   |===:===|#:#|======|  <- rows of a; # is the tile of registers
// n |      |   |   :   | : |      |
//   +------+   +------------------+
namespace heed::kernel {
namespace {

constexpr bool kWide = kVectorBytes == 64;           // 32 registers instead of 16
constexpr int kVectors = kWide ? 4 : 3, kRows = 12;  // the most that a tile has
constexpr int kUsualVectors = kWide ? 4 : 2;         // in a slab that is wider than kVectors
constexpr int kSums = kWide ? 24 : 12;               // vectors of sums in a tile
constexpr int kRowVectors = 8;    // in the tile of a single row: fewer sums would wait for their own results
constexpr int64_t kRowDepth = 6;  // rows of b that a single row multiplies in turn
constexpr int64_t kDepth = kWide ? 768 : 512, kSlab = kWide ? 512 : 2048;
constexpr int64_t kGroup = kWide ? 16 : 8;       // tiles, of which columns of a are packed together
constexpr int64_t kPassed = kWide ? 1 : kGroup;  // tiles that a panel passes in turn
constexpr int64_t kPackedRows = 8;               // of a tile of a
constexpr int64_t kGatheredRows = 8;             // of a tile: each has an address in a register
constexpr int64_t kFewFactors = 12000;  // of a, for which reading b in place costs less than packing it

// The next of the parts, of at most `most`, into which `left` is cut. The last two are of equal length, so
// that none is short.
int64_t next_part(int64_t left, int64_t most) {
  return left >= 2 * most ? most : left > most ? (left + 1) / 2 : left;
}

// Where row or column i begins: by their distance, or in a table.
int64_t step_to(int64_t step, int64_t i) { return i * step; }
int64_t step_to(const int64_t* offsets, int64_t i) { return offsets[i]; }

// Memory of this thread for packed operands.
struct alignas(64) CacheLine {
  std::byte bytes[64];
};
template <class T>
T* workspace(std::vector<CacheLine>& lines, int64_t size) {
  const size_t wanted = static_cast<size_t>(size) * sizeof(T) / sizeof(CacheLine) + 1;
  if (lines.size() < wanted) lines.resize(wanted);
  return reinterpret_cast<T*>(lines.data());
}

// The parts of a product.
template <class T>
struct Gemm {
  using Vector = typename Simd<T>::Values;
  using Half = Simd<T, kVectorBytes / 2>;
  using HalfVector = typename Half::Values;
  static constexpr int64_t kLanes = Simd<T>::size;
  static constexpr int64_t kColumns = kUsualVectors * kLanes;
  static constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));  // numbers in a line of a cache

  // A tile of R rows and C vectors of columns, or C and a half: out = start + a b. The last vector begins at
  // column `last` of out and start, and `b_last` of b: if the number of columns is no multiple of kLanes, it
  // overlaps the one before it and computes some results again. The steps are separate arguments because a
  // Matrix is passed through memory, which slows small products. Nothing is called inside, so that the sums
  // stay in registers.
  template <class AStep, class BStep, int R, int C, bool has_half = false>
  static void micro_kernel(int64_t k, const T* a, AStep a_row, AStep a_col, const T* b, BStep b_row,
                           int64_t b_last, const T* start, int64_t start_row, T* out, int64_t out_row,
                           int64_t last) {
    const auto column = [](int c, int64_t of_last) { return c < C - 1 || has_half ? c * kLanes : of_last; };
    Vector sum[R][C];
    HalfVector half[R];
    HEED_UNROLL
    for (int r = 0; r < R; ++r) {
      HEED_UNROLL
      for (int c = 0; c < C; ++c)
        sum[r][c] = start ? Simd<T>::load(start + r * start_row + column(c, last)) : Vector{};
      if (has_half) half[r] = start ? Half::load(start + r * start_row + last) : HalfVector{};
    }
    // Few registers hold addresses: of evenly spaced rows, only every kUpper-th has a pointer of its own. The
    // compiler must not know that it depends on a.
    constexpr int kUpper = std::is_pointer_v<AStep> ? 1 : 6;
    const T* rows[R];
    HEED_UNROLL
    for (int r = 0; r < R; r += kUpper) {
      rows[r] = a + step_to(a_row, r);
      asm("" : "+r"(rows[r]));
    }
    for (int64_t p = 0; p < k; ++p) {
      Vector row[C];
      HEED_UNROLL
      for (int c = 0; c < C; ++c) {
        row[c] = Simd<T>::load(b + step_to(b_row, p) + column(c, b_last));
        if (R > 1) keep_in_register(row[c]);
      }
      const auto factor = [&](int r) {
        const T* const a_p = rows[r / kUpper * kUpper] + step_to(a_col, p);
        if constexpr (kUpper == 1)
          return *a_p;
        else
          return a_p[r % kUpper * a_row];
      };
      HEED_UNROLL
      for (int r = 0; r < R; ++r) {
        HEED_UNROLL
        for (int c = 0; c < C; ++c) sum[r][c] += factor(r) * row[c];
        if (has_half) half[r] += factor(r) * Half::load(b + step_to(b_row, p) + b_last);
      }
    }
    HEED_UNROLL
    for (int r = 0; r < R; ++r) {
      HEED_UNROLL
      for (int c = 0; c < C; ++c) Simd<T>::store(out + r * out_row + column(c, last), sum[r][c]);
      if (has_half) Half::store(out + r * out_row + last, half[r]);
    }
  }

  static constexpr int rows_for(int64_t vectors) {
    return std::min(kRows, kSums / static_cast<int>(vectors));
  }
  // The kernel of R rows and C vectors is number (C - 1) kRows + R - 1. Those of one vector and a half
  // follow; they pay only where half vectors take half the time.
  template <class AStep, class BStep, int V, int R>
  static constexpr auto kernel_of() {
    constexpr bool has_half = V == kVectors;
    constexpr int C = has_half ? 1 : V + 1;
    return micro_kernel<AStep, BStep, std::min(R, rows_for(C + has_half)), C, has_half>;
  }
  template <class AStep, class BStep>
  static constexpr auto kMicroKernels = []<int... I>(std::integer_sequence<int, I...>) {
    return std::array{kernel_of<AStep, BStep, I / kRows, I % kRows + 1>()...};
  }(std::make_integer_sequence<int, (kVectors + 1) * kRows>());

  // to [depth, kLanes], whose rows are `step` apart, = alpha x [depth, m] for m <= kLanes, and zeros in the
  // other columns. Row p becomes row places[p], if these are given.
  [[gnu::noinline]] static void pack(int64_t depth, int64_t m, T alpha, Matrix<const T> x,
                                     const int64_t* places, T* to, int64_t step) {
    const auto row_at = [&](int64_t p) { return to + (places ? places[p] : p) * step; };
    const bool squares = x.row_step == 1 && depth >= kLanes;  // the last one overlaps the one before it
    for (int64_t row = 0; squares && row < depth; row += kLanes) {
      const int64_t p = std::min(row, depth - kLanes);
      Vector v[kLanes];
      HEED_UNROLL
      for (int i = 0; i < kLanes; ++i) v[i] = i < m ? alpha * Simd<T>::load(x.at(p, i)) : Vector{};
      transpose_square<T>(v);
      HEED_UNROLL
      for (int i = 0; i < kLanes; ++i) Simd<T>::store(row_at(p + i), v[i]);
    }
    for (int64_t p = 0; !squares && p < depth; ++p) {
      T* const row = row_at(p);
      Simd<T>::store(row, Vector{});
      for (int64_t j = 0; j < m; ++j) row[j] = alpha * *x.at(p, j);
    }
  }

  // Packs the first tiles of a [n, k], whose columns are dense, up to kGroup of them: to [tile, k,
  // kPackedRows].
  [[gnu::noinline]] static void pack_group(int64_t n, int64_t k, int64_t rows, Matrix<const T> a, T* to) {
    using Part = std::conditional_t<kWide, Half, Simd<T>>;
    std::array<int64_t, kGroup + 1> first{};
    size_t tiles = 0, whole = 0;  // whole: those that may be copied with kPackedRows rows
    for (; tiles < kGroup && first[tiles] < n; ++tiles) {
      first[tiles + 1] = first[tiles] + next_part(n - first[tiles], rows);
      if (first[tiles] + kPackedRows <= n) ++whole;
    }
    for (int64_t p = 0; p < k; ++p, a.data += a.col_step) {
      for (int64_t i = 0; i < first[tiles]; i += kLine) __builtin_prefetch(a.at(i, 8));  // 8 steps ahead
      T* packed = to + p * kPackedRows;
      for (size_t t = 0; t < tiles; ++t, packed += k * kPackedRows)
        if (t < whole)
          for (int64_t r = 0; r < kPackedRows; r += Part::size)
            Part::store(packed + r, Part::load(a.at(first[t] + r, 0)));
        else
          std::copy(a.at(first[t], 0), a.at(first[t + 1], 0), packed);
    }
  }

  // The columns of a tile: `vectors` vectors from column `first` of the slab on. The last vector begins at
  // first + last, and at b_last in the packed panel. A strip of less than a vector ends with the last column
  // of a vector that begins before it (last < 0), or begins with that vector in a slab of fewer columns (last
  // = 0).
  struct Strip {
    int64_t first, columns, vectors, last, b_last, kernels;  // the first one in kMicroKernels
  };

  // How the columns of a slab are cut into strips.
  static int64_t strip_width(int64_t vectors_left, int64_t columns) {
    return columns <= kVectors * kLanes ? vectors_left : next_part(vectors_left, kUsualVectors);
  }
  static void each_strip(int64_t columns, const auto& f) {
    const int64_t vectors = ceil_div(columns, kLanes);
    for (int64_t v = 0, width = 0; v < vectors; v += width) {
      width = strip_width(vectors - v, columns);
      const int64_t first = v * kLanes, count = std::min(width * kLanes, columns - first);
      const int64_t last = columns < kLanes ? 0 : count - kLanes, b_last = (width - 1) * kLanes;
      if (kWide && width == 2 && count <= kLanes + Half::size)
        f(Strip{first, count, width, last + Half::size, b_last + Half::size, kVectors * kRows});
      else
        f(Strip{first, count, width, last, b_last, (width - 1) * kRows});
    }
  }
  static_assert(rows_for(kUsualVectors) <= kPackedRows);
  static int64_t rows_of_tile(int64_t columns) {
    return rows_for(strip_width(ceil_div(columns, kLanes), columns));
  }

  // The first rows of a strip: out = start + a b. A strip of less than a vector is computed in a buffer.
  template <class AStep, class BStep>
  static void multiply_tile(int64_t rows, int64_t k, const T* a, AStep a_row, AStep a_col, const T* b,
                            BStep b_row, int64_t b_last, const Strip& s, const Matrix<const T>& start,
                            const Matrix<T>& out) {
    const auto kernel = kMicroKernels<AStep, BStep>[static_cast<size_t>(s.kernels + rows - 1)];
    if (s.columns >= kLanes)
      return kernel(k, a, a_row, a_col, b, b_row, b_last, start.data, start.row_step, out.data, out.row_step,
                    s.last);
    T part[kRows * kLanes] = {};
    for (int64_t r = 0; start.data && r < rows; ++r)
      std::copy_n(start.at(r, 0), s.columns, part + r * kLanes - s.last);
    kernel(k, a, a_row, a_col, b, b_row, b_last, start.data ? part : nullptr, kLanes, part, kLanes, 0);
    for (int64_t r = 0; r < rows; ++r) std::copy_n(part + r * kLanes - s.last, s.columns, out.at(r, 0));
  }

  // a [n, 1] b [1, m]
  static void outer_product(int64_t n, int64_t m, T alpha, const Matrix<const T>& a, const T* b,
                            const Matrix<const T>& start, const Matrix<T>& out) {
    for (int64_t i = 0; i < n; ++i) {
      const T factor = *a.at(i, 0);
      const T* before = start.at(i, 0);
      T* row = out.at(i, 0);
      for (int64_t j = 0; j < m; ++j) row[j] = multiply_add(factor, alpha * b[j], before ? before[j] : 0);
    }
  }

  // a [1, k] b [k, 1]
  static T inner_product(int64_t k, T alpha, const Matrix<const T>& a, const Matrix<const T>& b, T sum) {
    for (int64_t p = 0; p < k; ++p) sum = multiply_add(*a.at(0, p), alpha * *b.at(p, 0), sum);
    return sum;
  }

  // a [1, k] b [k, m], where the columns of b are dense. Squares of b are transposed in registers. The last
  // square may contain a column more than once.
  [[gnu::noinline]] static void row_times_columns(int64_t m, int64_t k, T alpha, Matrix<const T> a,
                                                  Matrix<const T> b, const T* start, T* out) {
    for (int64_t j = 0; j < m; j += kLanes) {
      const int64_t count = std::min<int64_t>(kLanes, m - j);
      const T* columns[kLanes];
      for (int64_t i = 0; i < kLanes; ++i) columns[i] = b.at(0, j + std::min(i, count - 1));
      Vector sum{};
      if (start && count == kLanes) sum = Simd<T>::load(start + j);
      for (int64_t i = 0; start && count < kLanes && i < count; ++i) sum[i] = start[j + i];
      int64_t p = 0;
      for (; p + kLanes <= k; p += kLanes) {
        Vector v[kLanes];
        HEED_UNROLL
        for (int i = 0; i < kLanes; ++i) v[i] = alpha * Simd<T>::load(columns[i] + p);
        transpose_square<T>(v);
        HEED_UNROLL
        for (int i = 0; i < kLanes; ++i) sum += *a.at(0, p + i) * v[i];
      }
      for (; p < k; ++p)
        for (int i = 0; i < kLanes; ++i) sum[i] = multiply_add(*a.at(0, p), alpha * columns[i][p], sum[i]);
      if (count == kLanes)
        Simd<T>::store(out + j, sum);
      else
        for (int64_t i = 0; i < count; ++i) out[j + i] = sum[i];
    }
  }

  // a [1, k] b [k, m], where the rows of b are dense and read in place: kRowDepth whole rows at a time, as
  // pieces of rows that are far apart come slowly from beyond the first-level cache. Where registers have 512
  // bits, which has not been measured, all rows at once. Returns how many columns are done: all whose vectors
  // are whole, and the rest too if they can be computed with some of the others, which are then computed
  // again.
  static int64_t row_times_rows(int64_t m, int64_t k, const Matrix<const T>& a, const Matrix<const T>& b,
                                const T* start, T* out) {
    int64_t j = 0, p = 0;
    const auto tiles = [&](int64_t depth, int64_t columns, const auto& kernel) {
      const T* const before = p == 0 ? start : out;
      for (; j + columns <= m; j += columns)
        kernel(depth, a.at(0, p), 0, a.col_step, b.at(p, j), b.row_step, columns - kLanes,
               before ? before + j : nullptr, 0, out + j, 0, columns - kLanes);
    };
    const bool overlaps = m % kLanes != 0 && m >= kLanes && start != out;
    if (overlaps) {
      j = m - kLanes;
      tiles(k, kLanes, micro_kernel<int64_t, int64_t, 1, 1>);
    }
    do {
      const int64_t depth = kWide ? k : std::min(kRowDepth, k - p);
      j = 0;
      tiles(depth, kRowVectors * kLanes, micro_kernel<int64_t, int64_t, 1, kRowVectors>);
      tiles(depth, 2 * kLanes, micro_kernel<int64_t, int64_t, 1, 2>);
      tiles(depth, kLanes, micro_kernel<int64_t, int64_t, 1, 1>);
      p += depth;
    } while (p < k);
    return overlaps ? m : j;
  }

  // Calls f(j, columns, p, depth) for the slabs of b [k, m]: row by row of each slab's columns.
  static void each_slab(int64_t m, int64_t k, const auto& f) {
    for (int64_t j = 0, columns = 0; j < m; j += columns) {
      columns = std::min(m - j, ceil_div(next_part(m - j, kSlab), kLanes) * kLanes);
      int64_t p = 0;
      do {
        const int64_t depth = next_part(k - p, kDepth);
        f(j, columns, p, depth);
        p += depth;
      } while (p < k);
    }
  }

  // The numbers that a slab takes when it is packed.
  static int64_t packed_size(int64_t depth, int64_t columns) {
    return depth * ceil_div(columns, kLanes) * kLanes;
  }

  // A slab of b [depth, columns], read in place or, if `panels` is given, from row `first` of these on.
  struct Slab {
    int64_t depth, columns;
    Matrix<const T> b;
    const T* panels = nullptr;
    int64_t first = 0;

    Matrix<const T> panel(const Strip& s) const {
      return Matrix<const T>{panels + s.first * depth, s.vectors * kLanes, 1}.block(first, 0);
    }
    // Packs alpha b, each strip in a panel [depth, vectors of the strip] of its own.
    void pack(T alpha, const int64_t* places, T* to) {
      panels = to;
      if (b.col_step == 1 && columns >= kLanes && !places) return pack_rows(alpha, to);
      each_strip(columns, [&](const Strip& s) {
        for (int64_t v = 0; v < s.vectors; ++v) {
          const int64_t first = std::max<int64_t>(std::min(s.first + v * kLanes, columns - kLanes), 0);
          Gemm::pack(depth, std::min(kLanes, columns), alpha, b.block(0, first), places,
                     to + s.first * depth + v * kLanes, s.vectors * kLanes);
        }
      });
    }

    // The same for a b whose rows are dense, a few rows at a time: what is packed comes from the third cache
    // or memory.
    [[gnu::noinline]] void pack_rows(T alpha, T* to) {
      constexpr int64_t kFew = 4;
      for (int64_t first = 0; first < depth; first += kFew)
        each_strip(columns, [&](const Strip& s) {
          T* packed = to + s.first * depth + first * s.vectors * kLanes;
          for (int64_t p = first; p < std::min(depth, first + kFew); ++p, packed += s.vectors * kLanes) {
            const T* row = b.at(p, s.first);
            __builtin_prefetch(row + kFew * b.row_step);
            int64_t j = 0;
            for (; j < (s.vectors - 1) * kLanes; j += kLanes)
              Simd<T>::store(packed + j, alpha * Simd<T>::load(row + j));
            Simd<T>::store(packed + j, alpha * Simd<T>::load(row + s.columns - kLanes));
          }
        });
    }
  };

  // out [n, columns] = start + a [n, k] b for one strip of a slab and as many rows as kPassed tiles have.
  // Returns how many these are.
  static int64_t multiply_strip(int64_t n, int64_t k, Matrix<const T> a, bool packed, const Slab& slab,
                                const Strip& s, Matrix<const T> start, Matrix<T> out) {
    const Matrix<const T> b = slab.panels ? slab.panel(s) : slab.b.block(0, s.first);
    const int64_t b_last = slab.panels ? s.b_last : s.last;
    const int64_t most = rows_of_tile(slab.columns);
    int64_t i = 0;
    for (int64_t tile = 0; tile < kPassed && i < n; ++tile) {
      const int64_t rows = next_part(n - i, most);
      // The first strip reads rows of a from the third cache or memory, several side by side. The hardware
      // prefetches a row after its first lines only.
      if (kPassed > 1 && s.first == 0 && !packed && a.col_step == 1 && i + 2 * rows <= n)
        for (int64_t r = rows; r < 2 * rows; ++r)
          for (int64_t p = 0; p < std::min<int64_t>(k, 32); p += kLine) __builtin_prefetch(a.at(r, p));
      multiply_tile(rows, k, a.data, a.row_step, a.col_step, b.data, b.row_step, b_last, s, start, out);
      i += rows;
      a.data += packed ? k * kPackedRows : rows * a.row_step;
      start.data += rows * start.row_step;
      out.data += rows * out.row_step;
    }
    return i;
  }

  // out [n, m] = start + a [n, k] b for the first k rows and the strips of the first m columns of a slab
  static void multiply_slab(int64_t n, int64_t m, int64_t k, const Matrix<const T>& a, const Slab& slab,
                            const Matrix<const T>& start, const Matrix<T>& out) {
    static thread_local std::vector<CacheLine> a_workspace;
    // Packing a costs more than it saves where few columns of b read it.
    const int64_t few = k > 128 ? 2 * kColumns : 128;
    const bool packs_a = a.row_step == 1 && a.col_step >= 256 && k > 64 && n >= kPackedRows && m > few;
    T* const packed = packs_a ? workspace<T>(a_workspace, kGroup * k * kPackedRows) : nullptr;
    for (int64_t i = 0, done = 0, tile = 0; i < n; i += done, tile = (tile + kPassed) % kGroup) {
      Matrix<const T> rows = a.block(i, 0);
      if (packs_a) {
        if (tile == 0) pack_group(n - i, k, rows_of_tile(slab.columns), rows, packed);
        rows = {packed + tile * k * kPackedRows, 1, kPackedRows};
      }
      each_strip(slab.columns, [&](const Strip& s) {
        if (s.first < m)
          done = multiply_strip(n - i, k, rows, packs_a, slab, s, start.block(i, s.first),
                                out.block(i, s.first));
      });
    }
  }
};

}  // namespace

bool gemm_fuses() { return kFuses; }

template <class T>
bool PackedMatrix<T>::pays(int64_t n, int64_t m, int64_t k, T alpha, const Matrix<const T>& b) {
  return (kWide ? n > kInPlaceRows : n * k > kFewFactors) || b.col_step != 1 || alpha != 1 ||
         m < Simd<T>::size;
}

template <class T>
void gemm(int64_t n, int64_t m, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b,
          Matrix<const T> start, Matrix<T> out) {
  using G = Gemm<T>;
  // A column is a row of the transposed product.
  if (m == 1 && n > 1 && alpha == 1 && out.row_step == 1 && (!start.data || start.row_step == 1))
    return gemm<T>(1, n, k, alpha, b.transposed(), a.transposed(), start.transposed(), out.transposed());
  if (k == 1 && b.col_step == 1) return G::outer_product(n, m, alpha, a, b.data, start, out);
  if (n == 1 && m == 1)
    return void(*out.data = G::inner_product(k, alpha, a, b, start.data ? *start.data : 0));
  if (n == 1 && b.row_step == 1 && b.col_step != 1 && k > 0)
    return G::row_times_columns(m, k, alpha, a, b, start.data, out.data);
  const int64_t done =
      n == 1 && b.col_step == 1 && alpha == 1 ? G::row_times_rows(m, k, a, b, start.data, out.data) : 0;
  static thread_local std::vector<CacheLine> b_workspace;
  G::each_slab(m - done, k, [&](int64_t j, int64_t columns, int64_t p, int64_t depth) {
    j += done;
    typename G::Slab slab{.depth = depth, .columns = columns, .b = b.block(p, j)};
    if (PackedMatrix<T>::pays(n, columns, depth, alpha, b))
      slab.pack(alpha, nullptr, workspace<T>(b_workspace, G::packed_size(depth, columns)));
    G::multiply_slab(n, columns, depth, a.block(0, p), slab,
                     (p == 0 ? start : Matrix<const T>(out)).block(0, j), out.block(0, j));
  });
}

template <class T>
void gemm_lines(int64_t n, int64_t m, int64_t k, Matrix<const T> a, const T* b, const int64_t* b_rows,
                Matrix<const T> start, Matrix<T> out) {
  using G = Gemm<T>;
  G::each_strip(m, [&](const typename G::Strip& s) {
    for (int64_t i = 0, rows = 0; i < n; i += rows) {
      rows = next_part(n - i, G::rows_for(s.vectors));
      G::multiply_tile(rows, k, a.at(i, 0), a.row_step, a.col_step, b + s.first, b_rows, s.last, s,
                       start.block(i, s.first), out.block(i, s.first));
    }
  });
}

template <class T>
void PackedMatrix<T>::pack(int64_t k, int64_t m, T alpha, Matrix<const T> b, const int64_t* places) {
  rows_ = k;
  columns_ = m;
  // Of all slabs, only the last ends within a vector.
  const int64_t size = Gemm<T>::packed_size(k, m);
  if (!panels_.defined() || panels_.numel() < size) panels_ = Tensor::empty({size}, dtype_of<T>);
  auto* panels = panels_.mutable_data<T>();
  Gemm<T>::each_slab(m, k, [&](int64_t j, int64_t columns, int64_t p, int64_t) {
    if (p == 0) typename Gemm<T>::Slab{k, columns, b.block(0, j)}.pack(alpha, places, panels + j * k);
  });
}

template <class T>
void PackedMatrix<T>::multiply(int64_t n, int64_t m, int64_t k, Matrix<const T> a, Matrix<const T> start,
                               Matrix<T> out) const {
  Gemm<T>::each_slab(columns_, rows_, [&](int64_t j, int64_t columns, int64_t p, int64_t depth) {
    if (j < m && (p < k || p == 0))
      Gemm<T>::multiply_slab(n, std::min(columns, m - j), std::min(depth, k - p), a.block(0, p),
                             {rows_, columns, {}, panels_.data<T>() + j * rows_, p},
                             (p == 0 ? start : Matrix<const T>(out)).block(0, j), out.block(0, j));
  });
}

template <class T>
void PackedMatrix<T>::multiply(int64_t n, const Gathered<T>& a, Matrix<const T> start, Matrix<T> out) const {
  using G = Gemm<T>;
  G::each_slab(columns_, rows_, [&](int64_t j, int64_t columns, int64_t p, int64_t depth) {
    const T* const panels = panels_.data<T>() + j * rows_;
    const Matrix<const T> before = p == 0 ? start : out;
    for (int64_t i = 0, last = 0; i < n; i = last)
      G::each_strip(columns, [&](const typename G::Strip& s) {
        const Matrix<const T> b = typename G::Slab{rows_, columns, {}, panels}.panel(s);
        last = i;
        for (int64_t tile = 0, rows = 0; tile < kPassed && last < n; ++tile, last += rows) {
          // A tile ends where the range of columns changes.
          const int64_t most = std::min(kGatheredRows, G::rows_of_tile(columns)), line = last / a.line;
          int64_t next = line + 1;
          while (next * a.line < std::min(n, last + 2 * most) && a.inside[next] == a.inside[line]) ++next;
          rows = next_part(std::min(n, next * a.line) - last, most);
          const int64_t first = std::max(p, a.inside[line].begin);
          const int64_t end = std::min(p + depth, a.inside[line].end);
          G::multiply_tile(rows, end - first, a.data, a.rows + last, a.columns + first, b.at(first, 0),
                           b.row_step, s.b_last, s, before.block(last, j + s.first),
                           out.block(last, j + s.first));
        }
      });
  });
}

template <class T>
std::array<T, kDots> dots(int64_t k, T alpha, const Starts<T>& a, int64_t a_step, const Starts<T>& b,
                          int64_t b_step) {
  std::array<T, kDots> sums{};
  for (int64_t p = 0; p < k; ++p) HEED_UNROLL
  for (size_t i = 0; i < kDots; ++i)
    sums[i] = multiply_add(a[i][p * a_step], alpha * b[i][p * b_step], sums[i]);
  return sums;
}

template decltype(gemm<float>) gemm<float>;
template decltype(gemm<double>) gemm<double>;
template decltype(gemm_lines<float>) gemm_lines<float>;
template decltype(gemm_lines<double>) gemm_lines<double>;
template class PackedMatrix<float>;
template class PackedMatrix<double>;
template decltype(dots<float>) dots<float>;
template decltype(dots<double>) dots<double>;

}  // namespace heed::kernel
