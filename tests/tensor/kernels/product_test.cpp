#include "tensor/kernels/product.h"

#include <doctest/doctest.h>

#include <cstring>
#include <tuple>

#include "tensor/create.h"
#include "tensor/random.h"

using namespace heed;
using kernel::Matrix;

namespace {

constexpr float kUntouched = 12345;

// A matrix in its own memory, surrounded by other numbers.
template <class T>
struct Factor {
  std::vector<T> memory;
  int64_t first, row_step, col_step;

  // Layouts: dense rows, rows with gaps, dense columns, columns with gaps, every third number, reversed, one
  // repeated row.
  static constexpr int64_t kLayouts = 7;
  Factor(int64_t rows, int64_t columns, int64_t layout, Generator& generator) {
    const std::pair<int64_t, int64_t> steps[kLayouts] = {{columns, 1},  {columns + 5, 1},     {1, rows},
                                                         {1, rows + 3}, {3 * columns + 1, 3}, {-columns, -1},
                                                         {0, 1}};
    std::tie(row_step, col_step) = steps[layout];
    const int64_t last_row = (rows - 1) * row_step, last_column = (columns - 1) * col_step;
    const int64_t size = rows == 0 || columns == 0 ? 0 : std::abs(last_row) + std::abs(last_column) + 1;
    const Tensor numbers = randn({size + 64}, dtype_of<T>, &generator);
    memory.assign(numbers.data<T>(), numbers.data<T>() + size + 64);
    first = 32 + (layout == 5 ? size - 1 : 0);
  }
  Matrix<T> matrix() { return {memory.data() + first, row_step, col_step}; }
};

// The chain of multiply-adds that the header documents.
template <class T>
std::vector<T> by_definition(int64_t n, int64_t m, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b,
                             Matrix<const T> start) {
  const bool fuses = kernel::gemm_fuses();
  std::vector<T> sums;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j) sums.push_back(start.data ? *start.at(i, j) : 0);
    T* const row = sums.data() + i * m;
    for (int64_t p = 0; p < k; ++p) {
      const T factor = *a.at(i, p), *other = b.at(p, 0);
      for (int64_t j = 0; j < m; ++j, other += b.col_step)
        row[j] = fuses ? std::fma(factor, alpha * *other, row[j]) : factor * (alpha * *other) + row[j];
    }
  }
  return sums;
}

// Compares one product of random operands, and the memory around the result, bit for bit.
template <class T>
void compare(int64_t n, int64_t m, int64_t k, Generator& generator) {
  const auto layout = [&](int64_t count) { return generator.integer(0, count); };
  Factor<T> a(n, k, layout(Factor<T>::kLayouts), generator), b(k, m, layout(Factor<T>::kLayouts), generator);
  Factor<T> y(n, m, layout(2), generator), start(n, m, layout(2) == 0 ? 6 : layout(2), generator);
  const T alpha = layout(2) == 0 ? T(1) : T(0.3);
  const int64_t kind = layout(3);
  const Matrix<const T> from = kind == 0 ? Matrix<T>{} : kind == 1 ? start.matrix() : y.matrix();
  INFO(n, " x ", k, " x ", m, ", steps of a ", a.row_step, ", ", a.col_step, ", of b ", b.row_step, ", ",
       b.col_step, ", start ", kind, ", alpha ", alpha);
  const std::vector<T> wanted = by_definition<T>(n, m, k, alpha, a.matrix(), b.matrix(), from);
  std::vector<T> memory = y.memory;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < m; ++j)
      memory[static_cast<size_t>(y.first + i * y.row_step + j)] = wanted[static_cast<size_t>(i * m + j)];
  kernel::gemm<T>(n, m, k, alpha, a.matrix(), b.matrix(), from, y.matrix());
  CHECK(std::memcmp(memory.data(), y.memory.data(), memory.size() * sizeof(T)) == 0);
}

}  // namespace

TEST_CASE_TEMPLATE("gemm: the bits are those of a chain of multiply-adds, for any sizes, steps and starts", T,
                   float, double) {
  Generator generator(1);
  for (int repeat = 0; repeat < 3000; ++repeat) {
    const auto size = [&] { return generator.integer(0, generator.integer(1, 72)); };
    compare<T>(size(), size(), size(), generator);
  }
}

TEST_CASE_TEMPLATE("gemm: sizes beyond a slab of b and a group of rows of a", T, float, double) {
  Generator generator(2);
  for (int repeat = 0; repeat < 30; ++repeat)
    compare<T>(generator.integer(1, 150), generator.integer(1, 1300), generator.integer(1, 1400), generator);
}

TEST_CASE_TEMPLATE("gemm: a single row or column has the same bits as in the whole product", T, float,
                   double) {
  Generator generator(3);
  for (const int64_t n : {2, 5, 33, 150})
    for (const int64_t m : {3, 16, 40, 600})
      for (const int64_t k : {1, 30, 300})
        for (const int64_t layout : {0, 2}) {
          Factor<T> a(n, k, layout, generator), b(k, m, layout, generator);
          std::vector<T> all(static_cast<size_t>(n * m)),
              one(static_cast<size_t>(std::max(n, m)), kUntouched);
          kernel::gemm<T>(n, m, k, 1, a.matrix(), b.matrix(), {}, {all.data(), m, 1});
          const int64_t i = generator.integer(0, n), j = generator.integer(0, m);
          kernel::gemm<T>(1, m, k, 1, a.matrix().block(i, 0), b.matrix(), {}, {one.data(), m, 1});
          CHECK(std::memcmp(one.data(), all.data() + i * m, static_cast<size_t>(m) * sizeof(T)) == 0);
          kernel::gemm<T>(n, 1, k, 1, a.matrix(), b.matrix().block(0, j), {}, {one.data(), 1, 1});
          for (int64_t r = 0; r < n; ++r)
            CHECK(one[static_cast<size_t>(r)] == all[static_cast<size_t>(r * m + j)]);
        }
}

TEST_CASE_TEMPLATE("gemm: infinities and NaN stay in their row and column", T, float, double) {
  constexpr int64_t n = 30, m = 45, k = 20;
  for (const T odd : {T(INFINITY), T(NAN)}) {
    Generator generator(4);
    Factor<T> a(n, k, 0, generator), b(k, m, 2, generator);
    *a.matrix().at(7, 3) = odd;
    std::vector<T> y(n * m);
    kernel::gemm<T>(n, m, k, 1, a.matrix(), b.matrix(), {}, {y.data(), m, 1});
    for (size_t i = 0; i < y.size(); ++i) CHECK(std::isfinite(y[i]) == (i / m != 7));
  }
}

TEST_CASE_TEMPLATE("gemm: rows and columns at the offsets of a table have the same bits", T, float, double) {
  Generator generator(6);
  constexpr int64_t kSpread = 2000;
  for (int repeat = 0; repeat < 400; ++repeat) {
    const int64_t n = generator.integer(1, 60), m = generator.integer(1, 150);
    const int64_t k = generator.integer(0, repeat % 10 == 0 ? 1700 : 40);
    INFO(n, " x ", k, " x ", m);
    const Tensor numbers = randn({2 * kSpread + 200}, dtype_of<T>, &generator);
    const T* const data = numbers.data<T>();
    const auto offsets = [&](int64_t count) {
      std::vector<int64_t> list(static_cast<size_t>(count));
      for (int64_t& offset : list) offset = generator.integer(0, kSpread);
      return list;
    };
    const std::vector<int64_t> rows = offsets(n), columns = offsets(k), b_rows = offsets(k);
    std::vector<T> a, b, start(static_cast<size_t>(n * m), T(0.5)), y(start), lines(start);
    for (const int64_t row : rows)
      for (const int64_t column : columns) a.push_back(data[row + column]);
    for (const int64_t row : b_rows) b.insert(b.end(), data + row, data + row + m);
    const Matrix<const T> dense_a{a.data(), k, 1}, dense_b{b.data(), m, 1};
    const Matrix<const T> from = repeat % 2 == 0 ? Matrix<const T>{start.data(), m, 1} : Matrix<const T>();
    const std::vector<T> wanted = by_definition<T>(n, m, k, 1, dense_a, dense_b, from);
    kernel::PackedMatrix<T> packed;
    packed.pack(k, m, 1, dense_b);
    const kernel::Range everywhere{0, k};
    packed.multiply(n, {data, rows.data(), columns.data(), &everywhere, n}, from, {y.data(), m, 1});
    CHECK(y == wanted);
    kernel::gemm_lines<T>(n, m, k, dense_a, data, b_rows.data(), from, {lines.data(), m, 1});
    CHECK(lines == wanted);
  }
}

TEST_CASE_TEMPLATE("gemm: zeros around a range of columns are left out, and rows of b may come in any order",
                   T, float, double) {
  Generator generator(7);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const int64_t n = generator.integer(1, 60), m = generator.integer(1, 150);
    const int64_t k = generator.integer(0, repeat % 10 == 0 ? 1700 : 40), line = generator.integer(1, 30);
    INFO(n, " x ", k, " x ", m);
    Factor<T> a(n, k, 0, generator), b(k, m, repeat % 3, generator);
    std::vector<int64_t> rows, columns;
    const std::vector<int64_t> places = randperm(k, &generator).to_vector<int64_t>();
    for (int64_t p = 0; p < k; ++p) columns.push_back(p);
    std::vector<T> banded, ordered(static_cast<size_t>(k * m)), y(static_cast<size_t>(n * m));
    std::vector<kernel::Range> inside;
    for (int64_t i = 0; i < n; ++i) {
      rows.push_back(i * k);
      if (i % line == 0) {
        const int64_t begin = generator.integer(0, k + 1);
        inside.push_back(i % 2 == 0 ? kernel::Range{begin, generator.integer(begin, k + 1)}
                                    : kernel::Range{0, k});
      }
      for (int64_t p = 0; p < k; ++p) {  // what is left out is not read
        const bool is_inside = p >= inside.back().begin && p < inside.back().end;
        banded.push_back(is_inside ? *a.matrix().at(i, p) : 0);
        if (!is_inside) *a.matrix().at(i, p) = T(NAN);
      }
    }
    for (int64_t p = 0; p < k; ++p)
      for (int64_t j = 0; j < m; ++j)
        ordered[static_cast<size_t>(places[static_cast<size_t>(p)] * m + j)] = *b.matrix().at(p, j);
    kernel::PackedMatrix<T> packed;
    packed.pack(k, m, 1, b.matrix(), places.data());
    packed.multiply(n, {a.matrix().data, rows.data(), columns.data(), inside.data(), line}, {},
                    {y.data(), m, 1});
    CHECK(y == by_definition<T>(n, m, k, 1, {banded.data(), k, 1}, {ordered.data(), m, 1}, {}));
  }
}

TEST_CASE_TEMPLATE("dots: several dot products have the same bits as each alone", T, float, double) {
  Generator generator(5);
  for (const int64_t k : {0, 1, 7, 49, 300})
    for (const int64_t step : {1, 3}) {
      Factor<T> a(kernel::kDots, 3 * k + 1, 0, generator), b(kernel::kDots, 3 * k + 1, 0, generator);
      kernel::Starts<T> left, right;
      for (size_t i = 0; i < left.size(); ++i) {
        left[i] = a.matrix().at(static_cast<int64_t>(i), 0);
        right[i] = b.matrix().at(static_cast<int64_t>(i), 0);
      }
      const auto sums = kernel::dots(k, T(0.3), left, step, right, 1);
      for (size_t i = 0; i < sums.size(); ++i)
        CHECK(sums[i] == by_definition<T>(1, 1, k, T(0.3), {left[i], 0, step}, {right[i], 1, 0}, {})[0]);
    }
}
