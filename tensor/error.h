#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "tensor/op_scope.h"

/// Error, and how every operation says what is wrong, and where.
namespace heed {

/// The one exception of the library: what is wrong and how to fix it, and where it happened.
class Error : public std::runtime_error {
 public:
  /// What the text of an Error is composed of.
  struct Parts {
    std::string operation = {};     ///< The operation that the user called, "" outside of operations.
    std::string message = {};       ///< What is wrong, the operands with their shapes, the remedy.
    std::string table = {};         ///< Lines below the message, each after a line break.
    SourceLocation line = {};       ///< Where the operation was called; its line is 0 if unknown.
    std::string rule = {};          ///< The operation whose gradient rule was running, or "".
    SourceLocation rule_line = {};  ///< Where that operation was called.
    std::optional<std::string> module = {};  ///< Path of the module that ran, or made the node of the rule.
  };
  explicit Error(std::string message, SourceLocation line = {})
      : Error(Parts{.message = std::move(message), .line = line}) {}
  explicit Error(Parts parts);

  const Parts& parts() const { return *parts_; }
  SourceLocation line() const { return parts_->line; }

 private:
  std::shared_ptr<const Parts> parts_;
};

/// The shortest decimal that reads back as the same number: 0.1, 3, 1e-08, inf, nan.
std::string to_string(double value);

namespace detail {

/// The parts of a message that fail() receives, put together.
struct ErrorText {
  std::string message, table;
};
/// Throws an Error with this text, in the name of `operation`, or of the one that is running if null.
[[noreturn]] void raise(ErrorText text, const char* operation);

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

/// A part with lines of its own, such as Aligned or Table, begins the table below the message.
void append(ErrorText& text, const auto& part) {
  if constexpr (requires { below_message(part); })
    text.table += below_message(part);
  else
    append(text.table.empty() ? text.message : text.table, part);
}

/// The parts one after the other: texts, numbers, shapes, dtypes.
std::string text(const auto&... parts) {
  std::string all;
  (append(all, parts), ...);
  return all;
}

}  // namespace detail

/// fail() in the name of an operation or class that may have no scope of its own.
[[noreturn, gnu::cold, gnu::noinline]] void fail_in(const char* operation, const auto&... parts) {
  detail::ErrorText text;
  (detail::append(text, parts), ...);
  detail::raise(std::move(text), operation);
}

/// Throws an Error whose message is the parts one after the other: texts, numbers, shapes, dtypes, tables.
/// While an operation runs, the Error has its name and the line where it was called.
[[noreturn, gnu::cold, gnu::noinline]] void fail(const auto&... parts) { fail_in(nullptr, parts...); }

/// check() in the name of an operation or class that may have no scope of its own.
void check_in(const char* operation, bool condition, const auto&... parts) {
  if (!condition) [[unlikely]]
    fail_in(operation, parts...);
}

/// Throws unless `condition` holds. The message is put together only when it is needed.
void check(bool condition, const auto&... parts) { check_in(nullptr, condition, parts...); }

}  // namespace heed
