#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

/// Error, and how every operation says what is wrong, and where.
namespace heed {

/// Where a call was written: `SourceLocation line = SourceLocation::current()` as the last parameter is the
/// caller's line.
using SourceLocation = std::source_location;

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

class OpScope;

namespace detail {

/// Where the program that uses heed found this header. Not const, and in every object that includes it: the
/// linker takes the program's for the library too.
[[gnu::used]] inline constinit const char* header_path = SourceLocation::current().file_name();

/// The scope that counts in this thread; null outside of all operations.
inline thread_local constinit const OpScope* calling = nullptr;

/// Is told when operations and gradient rules begin and end: see Profile in nn/view.
class CallClock {
 public:
  virtual void begin(const OpScope& call) = 0;
  virtual void end(const OpScope& call) = 0;

 protected:
  ~CallClock() = default;
};
/// That of this thread; null when there is none.
inline thread_local constinit CallClock* call_clock = nullptr;

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

/// The name of the operation that the user called and the line of the call, until the end of the scope. Every
/// public operation opens one first:
///
///   const OpScope scope("add", a.line());
///
/// Note [OpScope]: operations are made of others, and the one that counts is the outermost, which the user
/// wrote: an error in `where` below `masked_fill` is one of masked_fill, and what is recorded below it is
/// recorded at its line. While backward() runs the gradient rule of a node, that rule is a scope of its own:
/// operations in it count anew, and an error names them and the rule.
class OpScope {
 public:
  /// An operation, or the gradient rule of one.
  enum class Role { operation, rule };

  /// A scope of this name, for a call at this line.
  explicit OpScope(const char* name, SourceLocation line = {}, Role role = Role::operation)
      : name(name), line(line), role(role), before_(detail::calling) {
    if (before_ && role != Role::rule && before_->role != Role::rule) return;
    detail::calling = this;
    if (detail::call_clock) [[unlikely]]
      detail::call_clock->begin(*this);
  }
  ~OpScope() {
    if (detail::call_clock && detail::calling == this) [[unlikely]]
      detail::call_clock->end(*this);
    detail::calling = before_;
  }
  OpScope(const OpScope&) = delete;
  OpScope& operator=(const OpScope&) = delete;

  /// The gradient rule that is running in this thread, or null.
  static const OpScope* rule() {
    const OpScope* scope = detail::calling;
    return !scope || scope->role == Role::rule ? scope : scope->before_;
  }

  const char* name;     ///< of the operation
  SourceLocation line;  ///< where it was called
  Role role;            ///< whether it is a gradient rule

 private:
  const OpScope* before_;  // null, or what counts again after this one
};

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
