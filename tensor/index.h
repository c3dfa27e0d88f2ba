#pragma once

#include <cstdint>
#include <optional>

#include "tensor/tensor.h"

namespace heed {

/// Positions start, start + step, ... before end; an end that is left out is the end of the dimension.
/// Negative positions count from the back. The step is positive.
struct Slice {
  std::optional<int64_t> start = {}, end = {};
  int64_t step = 1;
};

inline Slice slice(std::optional<int64_t> start, std::optional<int64_t> end = {}, int64_t step = 1) {
  return {start, end, step};
}

inline constexpr Slice whole{};  // all positions of a dimension
inline constexpr struct Ellipsis {
} ellipsis;  // as many whole dimensions as are left
inline constexpr struct NewAxis {
} new_axis;  // a dimension of size 1

class Index {
 public:
  enum class Kind { position, slice, ellipsis, new_axis, tensor };

  template <class Integer>
  requires std::is_integral_v<Integer> Index(Integer position)
      : kind(Kind::position), position(static_cast<int64_t>(position)) {}
  Index(Slice range) : kind(Kind::slice), range(range) {}
  Index(Ellipsis) : kind(Kind::ellipsis) {}
  Index(NewAxis) : kind(Kind::new_axis) {}
  Index(const Tensor& positions) : kind(Kind::tensor), tensor(positions) {}

  Kind kind;
  int64_t position = 0;
  Slice range;
  Tensor tensor;  // int64 positions, or bools that select
};

}  // namespace heed
