#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "tensor/tensor.h"

/// Matrices of plain numbers and loops, for programs that do by hand what the library does.
namespace program {

struct Matrix {
  Matrix(size_t rows, size_t columns, double value = 0)
      : rows(rows), columns(columns), values(rows * columns, value) {}
  Matrix(std::initializer_list<std::vector<double>> lines);
  explicit Matrix(const heed::Tensor& matrix);

  double& operator()(size_t i, size_t j) & { return values[i * columns + j]; }
  double operator()(size_t i, size_t j) const& { return values[i * columns + j]; }
  /// float64 [rows, columns].
  heed::Tensor tensor() const;

  size_t rows, columns;
  std::vector<double> values;
};

Matrix operator*(const Matrix& a, const Matrix& b);  // the matrix product
Matrix operator*(double factor, const Matrix& a);
Matrix operator+(const Matrix& a, const Matrix& b);
Matrix transpose(const Matrix& a);
Matrix softmax_rows(const Matrix& a);
/// Row i: [1, columns].
Matrix row(const Matrix& a, size_t i);
/// One matrix below the other, and side by side.
Matrix stacked(const std::vector<Matrix>& parts);
Matrix side_by_side(const std::vector<Matrix>& parts);
/// Infinite for other sizes and NaN.
double largest_difference(const Matrix& a, const Matrix& b);

/// "scores = Q K^T   [2, 2]" and the numbers below; of wide matrices the first columns.
void print(std::ostream& out, const std::string& title, const Matrix& a);
/// "(2, 3)": row i.
std::string row_text(const Matrix& a, size_t i);

}  // namespace program
