#pragma once

#include "tensor/lists.h"
#include "tensor/shape.h"

/// Dimensions and lists of integers as arguments.
namespace heed {

/// An integer but not a bool, so that softmax(x, true) does not compile.
class Dim {
 public:
  /// Any integer.
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
  Dim(Integer dim) : dim_(static_cast<int64_t>(dim)) {}
  operator int64_t() const { return dim_; }  ///< the integer

 private:
  int64_t dim_;
};

/// Dimensions to reduce over: 1, -1 or {0, 2}; {} means all of them.
struct Dims : Shape {
  using Shape::Shape;
  Dims(const Shape& dims) : Shape(dims) {}  ///< several dimensions
  /// One dimension.
  Dims(std::convertible_to<Dim> auto dim) : Shape{Dim(dim)} {}
};

/// A list of integers that may be longer than a shape, such as amounts of padding.
struct IntList : std::vector<int64_t> {
  using vector::vector;
  IntList(const std::vector<int64_t>& list) : vector(list) {}          ///< the integers of a list
  IntList(const Shape& shape) : vector(shape.begin(), shape.end()) {}  ///< the sizes of a shape
};
/// "[2, 3]"
inline std::string to_string(const IntList& list) { return "[" + detail::listed(list) + "]"; }

}  // namespace heed
