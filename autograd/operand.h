#pragma once

#include "tensor/scalar.h"
#include "tensor/tensor.h"

/// The arguments of operations.
namespace heed {

/// An argument of an operation: a tensor or a C++ number, and the caller's line. Converts implicitly, so
/// that errors in `a + b` name the line of the call. Owns a temporary tensor and refers to any other:
/// `Operand o = x + y;` is safe, `Operand o = x;` must not outlive x.
class Operand {
 public:
  /// An optional argument that was not given.
  Operand() = default;
  /// Refers to a tensor.
  Operand(const Tensor& tensor, SourceLocation line = SourceLocation::current())
      : tensor_(&tensor), line_(line) {}
  /// Owns a temporary tensor.
  Operand(Tensor&& tensor, SourceLocation line = SourceLocation::current())
      : own_(std::move(tensor)), line_(line) {}
  /// A type that converts to a tensor, such as Parameter.
  template <class Owner>
    requires requires(const Owner& owner) { owner.operator const Tensor&(); }
  Operand(const Owner& owner, SourceLocation line = SourceLocation::current())
      : Operand(owner.operator const Tensor&(), line) {}
  /// A number; it takes the dtype of the other operand.
  template <class T>
    requires std::is_arithmetic_v<T>
  Operand(T number, SourceLocation line = SourceLocation::current())
      : number_(number), is_number_(true), line_(line) {}

  const Tensor& tensor() const { return tensor_ ? *tensor_ : own_; }  ///< undefined for a number
  operator const Tensor&() const { return tensor(); }                 ///< tensor()
  const Tensor* operator->() const { return &tensor(); }              ///< a member of tensor()
  bool defined() const { return tensor().defined(); }                 ///< false for a number
  bool requires_grad() const { return tensor().requires_grad(); }     ///< false for a number
  SourceLocation line() const { return line_; }                       ///< where the operation was called

  bool is_number() const { return is_number_; }  ///< true for a C++ number
  Scalar number() const { return number_; }      ///< the number, if is_number()
  /// Replaces the tensor or number; the line stays.
  void assign(Tensor tensor) {
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

/// Gives numbers the dtype of the other operand. Throws if two tensors have different dtypes.
void match_dtypes(Operand& a, Operand& b);
/// Throws unless `x` is float32 or float64.
void check_floating(const Operand& x);
/// Throws unless `x` is int64.
void check_indices(const Operand& x);
/// Throws unless `p` is undefined or has this shape and the dtype of `x`.
void check_parameter(const char* name, const Operand& p, const Shape& shape, const Operand& x);
/// `dim` counted from the front: -1 is the last. Throws if x has no such dimension.
inline int64_t check_dim(const Operand& x, int64_t dim) { return check_dim(x->dim(), dim); }

}  // namespace heed
