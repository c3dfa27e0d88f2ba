#pragma once

#include <iosfwd>
#include <source_location>
#include <string>
#include <type_traits>

/// Values as text.
namespace heed {

class Shape;
class Tensor;

/// Streams every type that has a to_string: std::cout << x << x.shape() << x.dtype().
template <class T>
  requires(std::is_class_v<T> || std::is_enum_v<T>) && requires(const T& x) { to_string(x); }
std::ostream& operator<<(std::ostream& out, const T& x) {
  return out << to_string(x);
}

namespace detail {

/// "[0, 1]": the coordinates of element `index`, counted in row-major order.
std::string coordinates(int64_t index, const Shape& shape);
/// "from 0 to 7", "from 0 to 7 with 2 NaN", "with 3 NaN": the range of the values; "" if x is empty.
std::string range_text(const Tensor& x);
/// "folder/train.cpp:12"; "" for lines of heed itself and unknown lines.
std::string user_line(std::source_location line);

}  // namespace detail

}  // namespace heed
