#include "examples/by_hand/matrix.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "examples/shared/program.h"
#include "tensor/create.h"

namespace program {

Matrix::Matrix(std::initializer_list<std::vector<double>> lines)
    : Matrix(lines.size(), lines.size() ? lines.begin()->size() : 0) {
  values.clear();
  for (const auto& line : lines) values.insert(values.end(), line.begin(), line.end());
}

Matrix::Matrix(const heed::Tensor& matrix)
    : rows(static_cast<size_t>(matrix.size(0))),
      columns(static_cast<size_t>(matrix.size(1))),
      values(matrix.to_vector<double>()) {}

heed::Tensor Matrix::tensor() const {
  return heed::from_vector(values, {static_cast<int64_t>(rows), static_cast<int64_t>(columns)});
}

Matrix operator*(const Matrix& a, const Matrix& b) {
  heed::check(a.columns == b.rows, "a product of [", a.rows, ", ", a.columns, "] and [", b.rows, ", ",
              b.columns, "]");
  Matrix product(a.rows, b.columns);
  for (size_t i = 0; i < a.rows; ++i)
    for (size_t j = 0; j < b.columns; ++j)
      for (size_t k = 0; k < a.columns; ++k) product(i, j) += a(i, k) * b(k, j);
  return product;
}

Matrix operator*(double factor, const Matrix& a) {
  Matrix product = a;
  for (double& value : product.values) value *= factor;
  return product;
}

Matrix operator+(const Matrix& a, const Matrix& b) {
  heed::check(a.rows == b.rows && a.columns == b.columns, "a sum of [", a.rows, ", ", a.columns, "] and [",
              b.rows, ", ", b.columns, "]");
  Matrix sum = a;
  for (size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += b.values[i];
  return sum;
}

Matrix transpose(const Matrix& a) {
  Matrix turned(a.columns, a.rows);
  for (size_t i = 0; i < a.rows; ++i)
    for (size_t j = 0; j < a.columns; ++j) turned(j, i) = a(i, j);
  return turned;
}

Matrix softmax_rows(const Matrix& a) {
  Matrix y(a.rows, a.columns);
  for (size_t i = 0; i < a.rows; ++i) {
    double most = a(i, 0), sum = 0;
    for (size_t j = 1; j < a.columns; ++j) most = std::max(most, a(i, j));
    for (size_t j = 0; j < a.columns; ++j) sum += y(i, j) = std::exp(a(i, j) - most);
    for (size_t j = 0; j < a.columns; ++j) y(i, j) /= sum;
  }
  return y;
}

Matrix row(const Matrix& a, size_t i) {
  Matrix line(1, a.columns);
  for (size_t j = 0; j < a.columns; ++j) line(0, j) = a(i, j);
  return line;
}

Matrix stacked(const std::vector<Matrix>& parts) {
  Matrix all(0, parts.at(0).columns);
  for (const Matrix& part : parts) {
    heed::check(part.columns == all.columns, "matrices of ", all.columns, " and ", part.columns,
                " columns do not fit below each other");
    all.rows += part.rows;
    all.values.insert(all.values.end(), part.values.begin(), part.values.end());
  }
  return all;
}

Matrix side_by_side(const std::vector<Matrix>& parts) {
  std::vector<Matrix> turned;
  for (const Matrix& part : parts) turned.push_back(transpose(part));
  return transpose(stacked(turned));
}

double largest_difference(const Matrix& a, const Matrix& b) {
  double most = a.rows == b.rows && a.columns == b.columns ? 0 : INFINITY;
  for (size_t i = 0; i < std::min(a.values.size(), b.values.size()); ++i) {
    const double distance = std::fabs(a.values[i] - b.values[i]);
    most = std::isnan(distance) ? INFINITY : std::max(most, distance);
  }
  return most;
}

void print(std::ostream& out, const std::string& title, const Matrix& a) {
  constexpr size_t kShown = 8;
  char text[32];
  out << title << "   [" << a.rows << ", " << a.columns << "]\n";
  for (size_t i = 0; i < a.rows; ++i) {
    for (size_t j = 0; j < std::min(a.columns, kShown); ++j) {
      const double x = a(i, j);
      std::snprintf(text, sizeof text, "%10.4f",
                    x == 0 || std::isnan(x) ? std::fabs(x) : x);  // no -0, no -nan
      out << text;
    }
    out << (a.columns > kShown ? "  ...\n" : "\n");
  }
}

std::string row_text(const Matrix& a, size_t i) {
  std::string text;
  for (size_t j = 0; j < a.columns; ++j) text += (j ? ", " : "(") + short_number(a(i, j));
  return text + ")";
}

}  // namespace program
