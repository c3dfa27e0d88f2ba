#pragma once

#include "tensor/tensor.h"

/// The items of an index x[{...}].
namespace heed {

/// An item of an index: positions start, start + step, ... before end; an end that is left out, {}, is the
/// end of the dimension. Negative positions count from the back. The step is positive.
struct Slice {
  /// Slice(1, 4), Slice({}, {}, 2).
  constexpr explicit Slice(std::optional<int64_t> from = {}, std::optional<int64_t> to = {}, int64_t by = 1)
      : start(from), end(to), step(by) {}
  std::optional<int64_t> start, end;  ///< The first position; the first behind the last.
  int64_t step;                       ///< From one to the next, above 0.
};

/// The type of `ellipsis`.
struct Ellipsis {};
/// The type of `new_axis`.
struct NewAxis {};

/// One item of x[{...}], and the line where it was written.
struct Index {
  /// The kinds of items.
  enum class Kind { position, slice, ellipsis, new_axis, tensor };

  /// A position; -1 is the last.
  Index(std::integral auto at, SourceLocation call = SourceLocation::current())
      : kind(Kind::position), position(static_cast<int64_t>(at)), line(call) {}
  Index(Slice positions, SourceLocation call = SourceLocation::current())
      : kind(Kind::slice), range(positions), line(call) {}
  Index(Ellipsis, SourceLocation call = SourceLocation::current()) : kind(Kind::ellipsis), line(call) {}
  Index(NewAxis, SourceLocation call = SourceLocation::current()) : kind(Kind::new_axis), line(call) {}
  /// Positions, or bools that select.
  Index(const Tensor& positions, SourceLocation call = SourceLocation::current())
      : kind(Kind::tensor), tensor(positions), line(call) {}

  Kind kind;
  int64_t position = 0;
  Slice range;
  Tensor tensor;
  SourceLocation line;
};

inline constexpr Slice whole;          ///< All positions of a dimension.
inline constexpr Ellipsis ellipsis{};  ///< As many whole dimensions as are left.
inline constexpr NewAxis new_axis{};   ///< A dimension of size 1.

}  // namespace heed
