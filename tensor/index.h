#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace heed {

/// An item of an index: positions start, start + step, ... before end; an end that is left out, {}, is the end of
/// the dimension. Negative positions count from the back. The step is positive.
struct Slice {
  constexpr explicit Slice(std::optional<int64_t> start = {}, std::optional<int64_t> end = {},
                           int64_t step = 1)
      : start(start), end(end), step(step) {}
  std::optional<int64_t> start, end;
  int64_t step;
};

inline constexpr Slice whole;  ///< all positions of a dimension
inline constexpr struct Ellipsis {
} ellipsis;  ///< as many whole dimensions as are left
inline constexpr struct NewAxis {
} new_axis;  ///< a dimension of size 1

/// One item of x[{...}], and the line where it was written.
class Index {
 public:
  enum class Kind { position, slice, ellipsis, new_axis, tensor };

  template <class Integer>
  requires std::is_integral_v<Integer> Index(Integer position, Line line = Line::current())
      : kind(Kind::position), position(static_cast<int64_t>(position)), line(line) {}
  Index(Slice range, Line line = Line::current()) : kind(Kind::slice), range(range), line(line) {}
  Index(Ellipsis, Line line = Line::current()) : kind(Kind::ellipsis), line(line) {}
  Index(NewAxis, Line line = Line::current()) : kind(Kind::new_axis), line(line) {}
  Index(const Tensor& positions, Line line = Line::current())
      : kind(Kind::tensor), tensor(positions), line(line) {}

  Kind kind;
  int64_t position = 0;
  Slice range;
  Tensor tensor;  ///< int64 positions, or bools that select
  Line line;
};

}  // namespace heed
