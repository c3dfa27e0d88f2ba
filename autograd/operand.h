#pragma once

#include "tensor/scalar.h"
#include "tensor/tensor.h"

/// The arguments of operations, with the line of the caller.
namespace heed {

/// An argument of an operation: a tensor, or a C++ number, and the line of the caller. Made by implicit
/// conversion, so that `a + b` knows where it was written. Refers to a tensor that has a name and owns one
/// that has none: `Operand o = x + y;` is safe, `Operand o = x;` lives no longer than x.
class Operand {
 public:
  /// No tensor: an optional argument that was not given.
  Operand() = default;
  /// A tensor that has a name, and is referred to.
  Operand(const Tensor& tensor, SourceLocation line = SourceLocation::current())
      : tensor_(&tensor), line_(line) {}
  /// A tensor that has none, and is taken over.
  Operand(Tensor&& tensor, SourceLocation line = SourceLocation::current())
      : own_(std::move(tensor)), line_(line) {}
  /// Anything that reads as a tensor, such as the parameter of a layer.
  template <class Owner>
    requires requires(const Owner& owner) { owner.operator const Tensor&(); }
  Operand(const Owner& owner, SourceLocation line = SourceLocation::current())
      : Operand(owner.operator const Tensor&(), line) {}
  /// A number, which takes the dtype of the other operand.
  template <class T>
    requires std::integral<T> || std::floating_point<T>
  Operand(T number, SourceLocation line = SourceLocation::current())
      : number_(number), is_number_(true), line_(line) {}

  const Tensor& tensor() const { return tensor_ ? *tensor_ : own_; }  ///< undefined if there is none
  operator const Tensor&() const { return tensor(); }                 ///< tensor()
  const Tensor* operator->() const { return &tensor(); }              ///< a member of tensor()
  bool defined() const { return tensor().defined(); }                 ///< whether there is a tensor
  bool requires_grad() const { return tensor().requires_grad(); }     ///< whether it needs a gradient
  SourceLocation line() const { return line_; }                       ///< where the operation was called

  bool is_number() const { return is_number_; }  ///< whether it was given as a number
  Scalar number() const { return number_; }      ///< that number
  /// From here on this operand is `tensor`; the line stays.
  void become(Tensor tensor) {
    own_ = std::move(tensor);
    tensor_ = nullptr;
    is_number_ = false;
  }

 private:
  const Tensor* tensor_ = nullptr;
  Tensor own_;
  Scalar number_ = 0;
  bool is_number_ = false;
  SourceLocation line_;
};

/// A dimension: a whole number and no bool, so that softmax(x, true) does not compile.
class Dim {
 public:
  /// Any whole number.
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
  Dim(Integer dim) : dim_(static_cast<int64_t>(dim)) {}
  operator int64_t() const { return dim_; }  ///< the number

 private:
  int64_t dim_;
};

/// Dimensions to work over: 1, -1, {0, 2}; none at all means all of them.
struct Dims : Shape {
  Dims() = default;  ///< all of them
  /// One.
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
  Dims(Integer dim) : Shape{static_cast<int64_t>(dim)} {}
  Dims(Dim dim) : Shape{dim} {}                               ///< one
  Dims(std::initializer_list<int64_t> dims) : Shape(dims) {}  ///< several
  Dims(const Shape& dims) : Shape(dims) {}                    ///< several
};

/// Numbers among the operands take the dtype of the tensors; tensors of different dtypes are an error.
void adopt(Operand& a, Operand& b);

/// Throws unless `x` is float32 or float64.
void check_floating(const Operand& x);
/// Throws unless `x` is int64.
void check_indices(const Operand& x);
/// Throws unless `p`, where it is given, has this shape and the dtype of `x`.
void check_parameter(const char* name, const Operand& p, const Shape& shape, const Operand& x);

/// `dim` counted from the front: -1 is the last. Errors: x has no such dimension.
inline int64_t check_dim(const Operand& x, int64_t dim) { return check_dim(x->dim(), dim); }

}  // namespace heed
