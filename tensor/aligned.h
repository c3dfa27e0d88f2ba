#pragma once

#include "tensor/shape.h"

/// Two shapes that do not fit, for error messages.
namespace heed {

/// A part of a message: two shapes below each other, with a mark below each column that does not fit:
///
///     a  [8, 2, 3]
///     b     [4, 3]
///            ^
///
/// Refers to the shapes. The text is made only if there is a message.
struct Aligned {
  enum class Marks {
    broadcast,  ///< sizes that differ, neither of them 1
    unequal,    ///< sizes that differ, or that only one shape has
    last,       ///< the last size of a
  };
  const char* name_a;
  const Shape& a;
  const char* name_b;
  const Shape& b;
  Marks marks;
  int64_t overhang = 0;  ///< the number of sizes of b to the right of the last size of a
};

/// Three lines, each after a line break.
std::string below_message(const Aligned& shapes);

}  // namespace heed
