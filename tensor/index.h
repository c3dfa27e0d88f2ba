#pragma once

#include <optional>

#include "tensor/tensor.h"

/// What may stand in x[{...}].
namespace heed {

/// An item of an index: positions start, start + step, ... before end; an end that is left out, {}, is the
/// end of the dimension. Negative positions count from the back. The step is positive.
struct Slice {
  /// Slice(1, 4), Slice({}, {}, 2).
  constexpr explicit Slice(std::optional<int64_t> start = {}, std::optional<int64_t> end = {},
                           int64_t step = 1)
      : start(start), end(end), step(step) {}
  std::optional<int64_t> start, end;  ///< the first position; the first behind the last
  int64_t step;                       ///< from one to the next, above 0
};

inline constexpr Slice whole;  ///< all positions of a dimension
/// The type of `ellipsis`.
inline constexpr struct Ellipsis {
} ellipsis;  ///< as many whole dimensions as are left
/// The type of `new_axis`.
inline constexpr struct NewAxis {
} new_axis;  ///< a dimension of size 1

/// One item of x[{...}], and the line where it was written.
class Index {
 public:
  /// What an item may be.
  enum class Kind { position, slice, ellipsis, new_axis, tensor };

  /// A position; -1 is the last.
  template <class Integer>
    requires std::is_integral_v<Integer>
  Index(Integer position, SourceLocation line = SourceLocation::current())
      : kind(Kind::position), position(static_cast<int64_t>(position)), line(line) {}
  /// A slice.
  Index(Slice range, SourceLocation line = SourceLocation::current())
      : kind(Kind::slice), range(range), line(line) {}
  /// As many whole dimensions as are left.
  Index(Ellipsis, SourceLocation line = SourceLocation::current()) : kind(Kind::ellipsis), line(line) {}
  /// A dimension of size 1.
  Index(NewAxis, SourceLocation line = SourceLocation::current()) : kind(Kind::new_axis), line(line) {}
  /// Positions, or bools that select.
  Index(const Tensor& positions, SourceLocation line = SourceLocation::current())
      : kind(Kind::tensor), tensor(positions), line(line) {}

  Kind kind;             ///< what it is
  int64_t position = 0;  ///< of a position
  Slice range;           ///< of a slice
  Tensor tensor;         ///< int64 positions, or bools that select
  SourceLocation line;   ///< where it was written
};

}  // namespace heed
