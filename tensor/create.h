#pragma once

#include "tensor/random.h"
#include "tensor/scalar.h"
#include "tensor/tensor.h"

/// New tensors. A value that a dtype cannot hold is an Error: for int64 one that is not whole, for bool all
/// but 0 and 1.
namespace heed {

/// 0 everywhere.
Tensor zeros(const Shape& shape, DType dtype = float32, SourceLocation line = SourceLocation::current());
/// 1 everywhere.
Tensor ones(const Shape& shape, DType dtype = float32, SourceLocation line = SourceLocation::current());
/// `value` everywhere.
Tensor full(const Shape& shape, Scalar value, DType dtype = float32,
            SourceLocation line = SourceLocation::current());
/// 0 everywhere, in the shape and dtype of x.
Tensor zeros_like(const Tensor& x, SourceLocation line = SourceLocation::current());
/// 1 everywhere, in the shape and dtype of x.
Tensor ones_like(const Tensor& x, SourceLocation line = SourceLocation::current());
/// start, start + step, ... before end; integers are counted exactly. Errors: a step that does not lead to
/// end.
Tensor arange(Scalar start, Scalar end, Scalar step = 1, DType dtype = float32,
              SourceLocation line = SourceLocation::current());
/// 0, 1, ... below end.
inline Tensor arange(Scalar end, DType dtype = float32, SourceLocation line = SourceLocation::current()) {
  return arange(0, end, 1, dtype, line);
}
/// `count` values from start to end, both included. Errors: a negative count.
Tensor linspace(double start, double end, int64_t count, DType dtype = float32,
                SourceLocation line = SourceLocation::current());
/// 1 where the row is the column, else 0: [n, n], or [n, m] when m is given.
Tensor eye(int64_t n, int64_t m = -1, DType dtype = float32, SourceLocation line = SourceLocation::current());

/// Numbers as they are written in braces: {1, 2}, {{1, 2}, {3, 4}}. Every row must have the same length.
class NestedList {
 public:
  /// One number.
  template <class T>
    requires std::is_arithmetic_v<T>
  NestedList(T value) : value_(value), leaf_(true) {}
  /// Rows, or numbers.
  NestedList(std::initializer_list<NestedList> items) : items_(items) {}

 private:
  friend Tensor tensor(const NestedList& values, DType dtype, SourceLocation line);
  Shape shape() const;
  void write(const Shape& shape, int64_t depth, std::vector<Scalar>& out) const;

  Scalar value_ = 0;
  bool leaf_ = false;
  std::vector<NestedList> items_;
};

/// tensor({{1, 2}, {3, 4}}), tensor({1, 2}, int64), tensor(3.5): a tensor from nested values. Errors: rows of
/// different lengths.
Tensor tensor(const NestedList& values, DType dtype = float32,
              SourceLocation line = SourceLocation::current());

/// A tensor from values in row-major order, of the dtype that stores T unless another is given. Errors:
/// another number of values than the shape has elements.
template <class T>
Tensor from_vector(const std::vector<T>& values, const Shape& shape, DType dtype = dtype_of<T>,
                   SourceLocation line = SourceLocation::current());
/// The same for integers that no dtype stores, such as int and unsigned char: int64 unless another dtype is
/// given. Errors: a value above the range of int64.
template <class T>
  requires(!is_element<T> && !std::is_same_v<T, Scalar>)
Tensor from_vector(const std::vector<T>& values, const Shape& shape, DType dtype = int64,
                   SourceLocation line = SourceLocation::current()) {
  static_assert(std::is_integral_v<T>,
                "from_vector takes float, double, bool and integers; convert the values");
  if constexpr (std::is_integral_v<T>)
    return from_vector(std::vector<Scalar>(values.begin(), values.end()), shape, dtype, line);
  else
    return {};
}

// Random tensors; without a generator they draw from the thread's default one, see manual_seed.

/// Uniform in [0, 1).
Tensor rand(const Shape& shape, DType dtype = float32, Generator* generator = nullptr,
            SourceLocation line = SourceLocation::current());
/// Normal, mean 0, variance 1.
Tensor randn(const Shape& shape, DType dtype = float32, Generator* generator = nullptr,
             SourceLocation line = SourceLocation::current());
/// The factors as a tensor. See random.h.
Tensor dropout_mask(const Shape& shape, const DropoutFactors& factors, DType dtype = float32,
                    SourceLocation line = SourceLocation::current());
/// int64, each of [low, high) equally likely. Errors: low not below high.
Tensor randint(int64_t low, int64_t high, const Shape& shape, Generator* generator = nullptr,
               SourceLocation line = SourceLocation::current());
/// int64, 0 to n - 1 in random order.
Tensor randperm(int64_t n, Generator* generator = nullptr, SourceLocation line = SourceLocation::current());

}  // namespace heed
