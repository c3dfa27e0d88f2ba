#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "tensor/op_scope.h"

/// Error, and how every operation says what is wrong, and where.
namespace heed {

/// The one exception of the library. The message names the operation, the operands with their shapes, the
/// rule that was broken and, if there is a likely one, the remedy.
class Error : public std::runtime_error {
 public:
  /// The message, and where the operation was called.
  explicit Error(const std::string& message, SourceLocation line = {})
      : std::runtime_error(message), line_(line) {}
  /// Where the operation was called; its line is 0 when that is not known.
  SourceLocation line() const { return line_; }

 private:
  SourceLocation line_;
};

/// The shortest decimal that reads back as the same number: 0.1, 3, 1e-08, inf, nan.
std::string to_string(double value);

/// "at file:line", for messages.
std::string at(SourceLocation line);

/// Whether a line is known and in none of heed's rooms, wherever they were when the library was built and are
/// for the program.
bool is_user_code(SourceLocation line);

namespace detail {

/// Where the program that uses heed found this header. Not const, and in every object that includes it: the
/// linker takes the program's for the library too.
[[gnu::used]] inline constinit const char* header_path = SourceLocation::current().file_name();

/// Throws an Error with the message, in the name of the operation that is running.
[[noreturn]] void raise(std::string message);

template <class Part>
void append(std::string& message, const Part& part) {
  if constexpr (std::is_convertible_v<const Part&, std::string_view>) {
    message += std::string_view(part);
  } else if constexpr (std::is_floating_point_v<Part>) {
    message += to_string(static_cast<double>(part));
  } else {
    using std::to_string;  // of integers; what else may be a part has its own
    message += to_string(part);
  }
}

/// The parts one after the other: texts, numbers, shapes, dtypes.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::string all;
  (append(all, parts), ...);
  return all;
}

}  // namespace detail

/// Throws an Error whose message is the parts one after the other: texts, numbers, shapes, dtypes. While an
/// operation runs, its name comes before them and the line where it was called after them.
template <class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void fail(const Parts&... parts) {
  detail::raise(detail::text(parts...));
}

/// Throws unless `condition` holds. The message is put together only when it is needed.
template <class... Parts>
void check(bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]]
    fail(parts...);
}

}  // namespace heed
