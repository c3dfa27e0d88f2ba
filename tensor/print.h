#pragma once

#include <iosfwd>
#include <type_traits>

/// Whatever has a to_string may be streamed.
namespace heed {

/// Whatever has a to_string may be streamed: std::cout << x << x.shape() << x.dtype().
template <class T>
  requires(std::is_class_v<T> || std::is_enum_v<T>) && requires(const T& x) { to_string(x); }
std::ostream& operator<<(std::ostream& out, const T& x) {
  return out << to_string(x);
}

}  // namespace heed
