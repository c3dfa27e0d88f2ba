#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "tensor/error.h"
#include "tensor/print.h"

/// Shapes, strides and broadcasting.
namespace heed {

/// A list of sizes, one for each dimension. Stores up to eight without allocating; more throw.
class Shape {
 public:
  static constexpr int64_t kMaxDim = 8;

  Shape() = default;  ///< The shape of a scalar.
  Shape(std::initializer_list<int64_t> sizes) : Shape(sizes.begin(), static_cast<int64_t>(sizes.size())) {}
  Shape(const std::vector<int64_t>& sizes) : Shape(sizes.data(), static_cast<int64_t>(sizes.size())) {}
  /// `dim` sizes in memory.
  Shape(const int64_t* sizes, int64_t dim) {
    resize(dim);
    std::copy_n(sizes, dim, sizes_);
  }
  /// `dim` times one size.
  static Shape filled(int64_t dim, int64_t size) {
    Shape shape;
    shape.resize(dim, size);
    return shape;
  }

  int64_t dim() const { return dim_; }
  bool empty() const { return dim_ == 0; }                    ///< True for a scalar.
  int64_t& operator[](int64_t i) & { return sizes_[i]; }      ///< Not checked.
  int64_t operator[](int64_t i) const& { return sizes_[i]; }  ///< Not checked.
  int64_t back() const { return sizes_[dim_ - 1]; }           ///< Not checked.

  const int64_t* data() const& { return sizes_; }
  int64_t* begin() & { return sizes_; }
  int64_t* end() & { return sizes_ + dim_; }
  const int64_t* begin() const& { return sizes_; }
  const int64_t* end() const& { return sizes_ + dim_; }
  const int64_t* data() const&& = delete;  // would dangle
  const int64_t* begin() const&& = delete;
  const int64_t* end() const&& = delete;

  /// Removes dimensions at the end, or appends dimensions of this size. Throws beyond kMaxDim.
  void resize(int64_t dim, int64_t size = 0) {
    if (dim > kMaxDim) [[unlikely]]
      fail("a shape of ", dim, " dimensions; a tensor has at most ", kMaxDim);
    for (int64_t i = dim_; i < dim; ++i) sizes_[i] = size;
    dim_ = dim;
  }
  void push_back(int64_t size) { resize(dim_ + 1, size); }
  /// Inserts a dimension before `at`.
  void insert(int64_t at, int64_t size) {
    push_back(size);
    std::rotate(sizes_ + at, end() - 1, end());
  }
  void erase(int64_t at) {
    std::copy(sizes_ + at + 1, sizes_ + dim_, sizes_ + at);
    --dim_;
  }
  /// A copy with another size of dimension `at`.
  Shape with(int64_t at, int64_t size) const {
    Shape shape = *this;
    shape[at] = size;
    return shape;
  }
  /// A copy after insert(at, size).
  Shape inserted(int64_t at, int64_t size) const {
    Shape shape = *this;
    shape.insert(at, size);
    return shape;
  }
  /// A copy after erase(at).
  Shape erased(int64_t at) const {
    Shape shape = *this;
    shape.erase(at);
    return shape;
  }

  bool operator==(const Shape& other) const {
    for (int64_t i = 0; i < dim_; ++i)  // faster than std::equal for few sizes
      if (sizes_[i] != other.sizes_[i]) return false;
    return dim_ == other.dim_;
  }

 private:
  int64_t sizes_[kMaxDim] = {};
  int64_t dim_ = 0;
};

/// Distances between neighbors along each dimension, in elements.
using Strides = Shape;

/// "[2, 3]"
std::string to_string(const Shape& shape);

/// The number of elements: the product of the sizes, 1 for a scalar. Throws if it overflows.
int64_t numel(const Shape& shape);

/// Strides of a row-major tensor without gaps.
Strides contiguous_strides(const Shape& shape);

/// The shape that `a` and `b` broadcast to. Throws unless sizes, aligned at the right, are equal or one of
/// them is 1. The names are for the message.
Shape broadcast_shapes(const Shape& a, const Shape& b, const char* name_a = "a", const char* name_b = "b");
/// Whether each size of `shape`, aligned at the right, is 1 or that of `other`.
bool broadcasts_to(const Shape& shape, const Shape& other);

/// Counts `dim` from the front: -1 is the last. Throws if it lies outside [-rank, rank).
int64_t check_dim(int64_t rank, int64_t dim);

/// Counts the dims from the front and sorts them. An empty list means all dimensions. Throws if a dim appears
/// twice or lies outside [-rank, rank).
Shape check_dims(int64_t rank, const Shape& dims);

/// The shape after reducing over `dims`, which check_dims returned: they become 1 with keepdim, or vanish.
Shape reduced_shape(const Shape& shape, const Shape& dims, bool keepdim);

/// Calls f(offset) for the offset of every element in row-major order, counted from the first.
void for_each_offset(const Shape& shape, const Strides& strides, auto&& f) {
  Shape at = Shape::filled(shape.dim(), 0);
  int64_t offset = 0;
  for (int64_t left = numel(shape); left > 0; --left) {
    f(offset);
    for (int64_t d = shape.dim() - 1; d >= 0; --d) {
      offset += strides[d];
      if (++at[d] < shape[d]) break;
      offset -= strides[d] * shape[d];
      at[d] = 0;
    }
  }
}

}  // namespace heed
