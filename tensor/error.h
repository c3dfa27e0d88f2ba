#pragma once

#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace heed {

/// The one exception of the library. The message names the operation, the operands with their shapes, the
/// rule that was broken and, where there is a likely one, the mend.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The shortest decimal that reads back as the same number: 0.1, 3, 1e-08, inf, nan.
std::string to_string(double value);

namespace detail {

template <class Part>
void append(std::string& message, const Part& part) {
  if constexpr (std::is_convertible_v<const Part&, std::string_view>) {
    message += std::string_view(part);
  } else if constexpr (std::is_floating_point_v<Part>) {
    message += to_string(static_cast<double>(part));
  } else if constexpr (std::is_integral_v<Part>) {
    message += std::to_string(part);
  } else {
    message += to_string(part);
  }
}

}  // namespace detail

/// Throws an Error whose message is the parts one after the other: texts, numbers, shapes, dtypes.
template <class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void fail(const Parts&... parts) {
  std::string message;
  (detail::append(message, parts), ...);
  throw Error(message);
}

/// Throws unless `condition` holds. The message is put together only when it is needed.
template <class... Parts>
void check(bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]]
    fail(parts...);
}

}  // namespace heed
