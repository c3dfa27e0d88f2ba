#pragma once

#include "tensor/shape.h"

/// Shapes that do not fit, as messages show them.
namespace heed {

/// A part of a message: two shapes one below the other, and a mark below each column that does not fit:
///
///     a  [8, 2, 3]
///     b     [4, 3]
///            ^
///
/// It refers to the shapes, and is made text only when there is a message.
struct Aligned {
  /// Which columns do not fit.
  enum class Marks {
    broadcast,  ///< sizes that differ, neither of them 1
    unequal,    ///< sizes that differ, or are in one shape alone
    last,       ///< that of the last size of a
  };
  const char* name_a;    ///< of a
  const Shape& a;        ///< the upper one
  const char* name_b;    ///< of b
  const Shape& b;        ///< the lower one
  Marks marks;           ///< which columns do not fit
  int64_t overhang = 0;  ///< how many sizes of b stand right of the last of a
};

/// Three lines, each after a line break.
std::string below_message(const Aligned& shapes);

}  // namespace heed
