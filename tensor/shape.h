#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "tensor/error.h"

namespace heed {

/// A short list of sizes. Up to six stand inside the object, so that making a tensor of usual rank needs no
/// second block of memory; longer ones go to the heap.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> values) : Shape(values.begin(), static_cast<int64_t>(values.size())) {}
  Shape(const std::vector<int64_t>& values) : Shape(values.data(), static_cast<int64_t>(values.size())) {}
  Shape(const int64_t* values, int64_t rank) {
    resize(rank);
    for (int64_t i = 0; i < rank; ++i) data()[i] = values[i];
  }
  static Shape filled(int64_t rank, int64_t value) {
    Shape shape;
    shape.resize(rank);
    for (int64_t& size : shape) size = value;
    return shape;
  }

  Shape(const Shape& other) {
    if (other.far_) [[unlikely]]
      *this = other;
    else
      copy_near(other);
  }
  Shape(Shape&& other) noexcept { *this = static_cast<Shape&&>(other); }
  Shape& operator=(const Shape& other) {
    if (this == &other) return *this;
    if (!far_ && !other.far_) [[likely]] {
      copy_near(other);
      return *this;
    }
    resize(other.rank_);
    for (int64_t i = 0; i < rank_; ++i) data()[i] = other[i];
    return *this;
  }
  Shape& operator=(Shape&& other) noexcept {
    if (this == &other) return *this;
    delete[] far_;
    for (int64_t i = 0; i < kInline; ++i) near_[i] = other.near_[i];
    rank_ = other.rank_;
    capacity_ = other.capacity_;
    far_ = other.far_;
    other.far_ = nullptr;
    other.rank_ = 0;
    other.capacity_ = kInline;
    return *this;
  }
  ~Shape() { delete[] far_; }

  int64_t dim() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  int64_t* data() { return far_ ? far_ : near_; }
  const int64_t* data() const { return far_ ? far_ : near_; }
  int64_t& operator[](int64_t i) { return data()[i]; }
  int64_t operator[](int64_t i) const { return data()[i]; }
  int64_t* begin() { return data(); }
  int64_t* end() { return data() + rank_; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + rank_; }
  int64_t back() const { return data()[rank_ - 1]; }

  void resize(int64_t rank);
  void push_back(int64_t value) {
    resize(rank_ + 1);
    data()[rank_ - 1] = value;
  }
  void insert(int64_t at, int64_t value);
  void erase(int64_t at);

  bool operator==(const Shape& other) const {
    if (rank_ != other.rank_) return false;
    const int64_t *mine = data(), *others = other.data();
    for (int64_t i = 0; i < rank_; ++i)
      if (mine[i] != others[i]) return false;
    return true;
  }

 private:
  void copy_near(const Shape& other) {
    rank_ = other.rank_;
    std::memcpy(near_, other.near_, sizeof near_);
  }

  static constexpr int64_t kInline = 6;
  int64_t near_[kInline] = {};
  int64_t* far_ = nullptr;
  int32_t rank_ = 0;
  int32_t capacity_ = kInline;
};

/// Distances between neighbours along each dimension, in elements.
using Strides = Shape;

/// "[2, 3]"
std::string to_string(const Shape& shape);

/// The number of elements: the product of the sizes, 1 for a scalar. Refuses what 63 bits cannot count.
int64_t numel(const Shape& shape);

/// Strides of a row-major tensor without gaps.
Strides contiguous_strides(const Shape& shape);

/// The shape that `a` and `b` broadcast to: aligned at the right, sizes equal or one of them 1. The names are for
/// the message.
Shape broadcast_shapes(const Shape& a, const Shape& b, const char* name_a = "a", const char* name_b = "b");

/// `dim` counted from the front: -1 is the last. Throws when it is outside [-rank, rank).
int64_t check_dim(int64_t rank, int64_t dim);

/// Every dim of the list counted from the front, sorted, each once; no dims at all means all of them.
Shape check_dims(int64_t rank, const Shape& dims);

/// The shape after reducing over `dims` (as check_dims returns them): size 1 with keepdim, else left out.
Shape reduced_shape(const Shape& shape, const Shape& dims, bool keepdim);

}  // namespace heed
